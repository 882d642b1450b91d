// How the states of earlier loops enter a loop.
#pragma once

#include "config/config.h"
#include "nn/parameter.h"
#include "tensor/ops.h"

namespace rondo {

/// Adds Σ_{j=1..m} B_j (h_{l−j} − h_l) to what the injection makes of h_l (Zhuang et al.,
/// 2609.36636, C.2), with m = min(w, max(l − 1, 0)): h_0 never enters. B_j is a number, a vector
/// that multiplies channels, or a matrix; it starts at 0 and is the same in every loop.
struct History {
  HistoryForm form = HistoryForm::kNone;
  std::vector<Parameter> lags;  ///< B_1 … B_w: [1], [D] or [D, D]

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    for (std::size_t j = 0; j < self.lags.size(); ++j) visit(std::to_string(j + 1), self.lags[j]);
  }
};

History make_history(const ModelConfig& config);

/// What the loops of one pass share: the B_j as they are used.
struct HistoryContext {
  HistoryForm form = HistoryForm::kNone;
  std::vector<Weight> lags;  ///< factors [D], or matrices [D, D]

  void append_to(std::vector<Tensor>& list) const;
  [[nodiscard]] HistoryContext rebuilt(const std::vector<Tensor>& list, std::size_t& next) const;
};

HistoryContext prepare(const History& history, std::int64_t width);

/// z with the history added. `past`: h_{l−1}, h_{l−2}, …, latest first; those beyond w are not
/// read.
Tensor apply(const HistoryContext& context, const Tensor& z_BTD, const Tensor& h_BTD,
             const std::vector<Tensor>& past, Form form);

}  // namespace rondo
