// Back-propagating to every loop.
#include "diagnose/gradient_flow.h"

#include <cmath>

#include "diagnose/rows.h"

namespace rondo {
namespace {

/// Calls visit(parameter) for what is used once a loop.
template <typename Lm, typename Visit>
void visit_recurrent(Lm& model, const Visit& visit) {
  const auto each = [&](const std::string&, auto& parameter) { visit(parameter); };
  visit_parameters(model.core, each);
  visit_parameters(model.inject, each);
  visit_parameters(model.history, each);
  visit_parameters(model.timestep, each);
  visit_parameters(model.loop_norm, each);
}

}  // namespace

GradientFlow::GradientFlow(const LoopedLm& model, std::int64_t loops, bool with_weights)
    : model_(model), loops_(loops), state_(static_cast<std::size_t>(loops + 1)) {
  for (std::int64_t loop = 0; with_weights && loop < loops; ++loop) {
    LoopCopy copy{.model = model, .weights = {}, .gradients = {}};
    copy.model.prelude.clear();
    copy.model.coda.clear();
    visit_recurrent(copy.model, [&](Parameter& parameter) {
      parameter.value = parameter.value.detach().requires_grad_();
      copy.weights.push_back(parameter.value);
      copy.gradients.push_back(at::zeros_like(parameter.value.detach()));
    });
    copies_.push_back(std::move(copy));
  }
}

void GradientFlow::add(const ProbeSequence& sequence) {
  LoopPoint point;
  const auto pass = [&] {
    const NoGrad guard;
    return LoopedPass(model_, sequence.input);
  }();
  point.state = pass.initial_state().detach().requires_grad_();
  std::vector<Tensor> states = {point.state};
  for (std::int64_t loop = 0; loop < loops_; ++loop) {
    const LoopPlan one{.loops = 1, .of = loops_};
    auto next = copies_.empty() ? pass.run_from(point, one)
                                : LoopedPass(copies_[static_cast<std::size_t>(loop)].model,
                                             sequence.input, pass.e_BTD())
                                      .run_from(point, one);
    states.push_back(next);
    pass.advance(point, std::move(next));
  }
  const auto loss = pass.summed_loss(point.state, sequence.targets_S);
  auto inputs = states;
  for (const auto& copy : copies_)
    inputs.insert(inputs.end(), copy.weights.begin(), copy.weights.end());
  const auto found = gradients({loss}, inputs);
  for (std::size_t t = 0; t < states.size(); ++t)
    if (found[t].defined()) state_[t] += summed_squares(found[t]);
  auto next = states.size();
  for (auto& copy : copies_)
    for (auto& gradient : copy.gradients) {
      if (found[next].defined()) gradient.add_(found[next]);
      ++next;
    }
  predicted_ += sequence.targets_S.ge(0).sum().item<double>();
}

GradientNorms GradientFlow::norms() const {
  GradientNorms norms;
  for (const double squares : state_) norms.state.push_back(std::sqrt(squares) / predicted_);
  for (const auto& copy : copies_) {
    double squares = 0;
    for (const auto& gradient : copy.gradients) squares += summed_squares(gradient);
    norms.weights.push_back(std::sqrt(squares) / predicted_);
  }
  return norms;
}

double gradient_flow_weights(const LoopedLm& model, std::int64_t loops) {
  double numbers = 0;
  visit_recurrent(model, [&](const Parameter& parameter) {
    numbers += static_cast<double>(parameter.value.numel());
  });
  return 2 * numbers * static_cast<double>(loops);
}

}  // namespace rondo
