// Skipping one run of a block after the other.
#include "diagnose/interaction.h"

#include "diagnose/rows.h"

namespace rondo {
namespace {

constexpr double kSmallUpdate = 1e-8;

/// A pass over one sequence that is kept: where each of its blocks began, and what it gave.
class KeptPass {
 public:
  KeptPass(const LoopedLm& model, const ProbeSequence& sequence, const Occurrences& occurrences,
           std::int64_t& block_runs)
      : model_(model),
        input_(sequence.input),
        occurrences_(occurrences),
        block_runs_(block_runs),
        before_(occurrences.size()),
        after_(occurrences.size()),
        pass_(model, input_, observer()) {
    LoopPoint point{pass_.initial_state(), 0, {}};
    const auto last =
        pass_.run({.loops = occurrences.loops()}, [&](std::int64_t loop, const Tensor& state) {
          if (loop > 0) pass_.advance(point, state);
          points_.push_back(point);
        });
    run_coda(pass_, last, 0);
  }

  /// Σ ‖u_j‖ over positions.
  [[nodiscard]] double update(std::size_t j) const { return summed_update(before_[j], after_[j]); }

  /// Runs what follows occurrence `skipped` on what it was given; adds Σ ‖u_j' − u_j‖ to change[j].
  void skip(std::size_t skipped, double* change) {
    change_ = change;
    const auto& given = before_[skipped];
    const auto core_begin = occurrences_.prelude();
    const auto coda_begin = occurrences_.first_of_loop(occurrences_.loops() + 1);
    if (skipped >= coda_begin) {
      run_coda(pass_, given, skipped - coda_begin + 1);
    } else if (skipped >= core_begin) {
      const auto loop = (skipped - core_begin) / occurrences_.core();
      const auto layer = (skipped - core_begin) % occurrences_.core();
      auto point = points_[loop];
      pass_.advance(point, pass_.finish_loop(point, number(layer + 1), given, loops()));
      const LoopPlan rest{.loops = loops() - point.loop, .of = loops()};
      run_coda(pass_, pass_.run_from(std::move(point), rest), 0);
    } else {
      const LoopedPass other(model_, input_, pass_.prelude(given, number(skipped + 1)), observer());
      run_coda(other, other.run({.loops = loops()}), 0);
    }
  }

 private:
  static std::int64_t number(std::size_t value) { return static_cast<std::int64_t>(value); }
  [[nodiscard]] std::int64_t loops() const { return occurrences_.loops(); }

  /// Keeps the first pass, compares the others with it.
  BlockObserver observer() {
    return [this](const BlockRun& run) {
      ++block_runs_;
      const auto j = occurrences_.place(run);
      if (change_ != nullptr) {
        change_[j] += summed_change(before_[j], after_[j], run.before, run.after);
      } else {
        before_[j] = run.before;
        after_[j] = run.after;
      }
    };
  }

  void run_coda(const LoopedPass& pass, const Tensor& x_BTD, std::size_t first) const {
    if (first < occurrences_.coda()) (void)pass.coda(x_BTD, number(first));
  }

  const LoopedLm& model_;
  const LoopedInput& input_;
  const Occurrences& occurrences_;
  std::int64_t& block_runs_;
  double* change_ = nullptr;
  std::vector<Tensor> before_, after_;
  std::vector<LoopPoint> points_;
  LoopedPass pass_;
};

}  // namespace

Interaction::Interaction(const LoopedLm& model, std::int64_t loops)
    : model_(model),
      occurrences_(model.config, loops),
      update_(occurrences_.size()),
      change_(occurrences_.size() * occurrences_.size()) {}

void Interaction::add(const ProbeSequence& sequence) {
  const NoGrad guard;
  KeptPass pass(model_, sequence, occurrences_, block_runs_);
  const auto size = occurrences_.size();
  for (std::size_t j = 0; j < size; ++j) update_[j] += pass.update(j);
  for (std::size_t i = 0; i + 1 < size; ++i) pass.skip(i, change_.data() + i * size);
  positions_ += static_cast<double>(sequence.positions());
}

InteractionMatrix Interaction::matrix() const {
  InteractionMatrix matrix{
      .size = update_.size(), .update = update_, .change = change_, .share = {}};
  for (auto* list : {&matrix.update, &matrix.change})
    for (auto& value : *list) value /= positions_;
  matrix.share.resize(change_.size());
  for (std::size_t i = 0; i < matrix.size; ++i)
    for (std::size_t j = i + 1; j < matrix.size; ++j)
      if (matrix.update[j] > kSmallUpdate)
        matrix.share[i * matrix.size + j] = matrix.change[i * matrix.size + j] / matrix.update[j];
  return matrix;
}

}  // namespace rondo
