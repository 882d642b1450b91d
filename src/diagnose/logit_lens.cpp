// Reading states out.
#include "diagnose/logit_lens.h"

#include <algorithm>

#include "tensor/ops.h"

namespace rondo {
namespace {

/// Logits held at a time (64 MiB in single precision).
constexpr std::int64_t kMostLogits = std::int64_t{1} << 24;

}  // namespace

LogitLens::LogitLens(std::int64_t states, std::int64_t vocab)
    : rows_at_once_(std::max<std::int64_t>(1, kMostLogits / vocab)),
      nats_(static_cast<std::size_t>(states)),
      agreed_(nats_.size()),
      answers_(nats_.size()) {}

void LogitLens::add(std::int64_t loop, const Tensor& normed_BTD, const Head& head,
                    const Tensor& targets_S) {
  const auto at = static_cast<std::size_t>(loop);
  const auto length = normed_BTD.size(1);
  std::vector<Tensor> answers;
  for (std::int64_t first = 0; first < length; first += rows_at_once_) {
    const auto rows = std::min(rows_at_once_, length - first);
    const auto logits_NV = head(normed_BTD.narrow(1, first, rows)).flatten(0, 1);
    nats_[at] +=
        cross_entropy(logits_NV, targets_S.narrow(0, first, rows)).sum(at::kDouble).item<double>();
    answers.push_back(logits_NV.argmax(1));
  }
  answers_[at] = at::cat(answers);
}

void LogitLens::end_sequence(const Tensor& targets_S) {
  for (std::size_t i = 0; i < answers_.size(); ++i)
    agreed_[i] += answers_[i].eq(answers_.back()).sum().item<double>();
  positions_ += static_cast<double>(targets_S.size(0));
  predicted_ += targets_S.ge(0).sum().item<double>();
  std::fill(answers_.begin(), answers_.end(), Tensor());
}

std::vector<LensRow> LogitLens::rows() const {
  std::vector<LensRow> rows;
  for (std::size_t i = 0; i < nats_.size(); ++i)
    rows.push_back({nats_[i] / predicted_, agreed_[i] / positions_});
  return rows;
}

}  // namespace rondo
