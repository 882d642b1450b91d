// The histories.
#include "model/history.h"

#include <algorithm>

namespace rondo {

History make_history(const ModelConfig& config) {
  const auto width = config.d_model;
  const bool dense = config.history == HistoryForm::kDense;
  Parameter lag{
      .role = dense ? Role::kHistoryMatrix : Role::kConditioning, .shape = {}, .value = {}};
  switch (config.history) {
    case HistoryForm::kNone:
      return {};
    case HistoryForm::kScalar:
      lag.shape = {1};
      break;
    case HistoryForm::kChannel:
      lag.shape = {width};
      break;
    case HistoryForm::kDense:
      lag.shape = {width, width};
      break;
  }
  return {config.history, std::vector(static_cast<std::size_t>(config.history_window), lag)};
}

HistoryContext prepare(const History& history, std::int64_t width) {
  HistoryContext context{history.form, {}};
  for (const auto& lag : history.lags)
    context.lags.push_back(history.form == HistoryForm::kDense ? prepared(lag.value)
                                                               : Weight(lag.value.expand({width})));
  return context;
}

void HistoryContext::append_to(std::vector<Tensor>& list) const {
  for (const auto& lag : lags) list.push_back(lag.value);
}

HistoryContext HistoryContext::rebuilt(const std::vector<Tensor>& list, std::size_t& next) const {
  HistoryContext context = *this;
  for (auto& lag : context.lags) lag.value = list[next++];
  return context;
}

Tensor apply(const HistoryContext& context, const Tensor& z_BTD, const Tensor& h_BTD,
             const std::vector<Tensor>& past, Form form) {
  const auto seen = std::min(past.size(), context.lags.size());
  if (seen == 0) return z_BTD;
  if (context.form == HistoryForm::kDense) {
    auto out = z_BTD;
    for (std::size_t j = 0; j < seen; ++j) out = out + project(past[j] - h_BTD, context.lags[j]);
    return out;
  }
  std::vector<Tensor> factors;
  for (std::size_t j = 0; j < seen; ++j) factors.push_back(context.lags[j].value);
  return lean(z_BTD, h_BTD, at::TensorList(past.data(), seen), factors, form);
}

}  // namespace rondo
