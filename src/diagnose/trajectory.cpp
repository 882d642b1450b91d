// Adding up the path of the state.
#include "diagnose/trajectory.h"

#include "diagnose/rows.h"

namespace rondo {
namespace {

std::vector<double> divided(std::vector<double> sums, double by) {
  for (auto& sum : sums) sum /= by;
  return sums;
}

std::size_t place_of(std::int64_t loop) { return static_cast<std::size_t>(loop); }

}  // namespace

Trajectory::Trajectory(const ModelConfig& config, std::int64_t loops)
    : occurrences_(config, loops),
      block_angle_(occurrences_.size()),
      block_update_(occurrences_.size()),
      loop_angle_(place_of(loops)),
      loop_update_(place_of(loops)),
      state_(place_of(loops + 1)),
      injected_(place_of(loops)),
      core_(place_of(loops)) {}

void Trajectory::add_block(const BlockRun& run) {
  const auto sums = compare_rows(run.before, run.after);
  const auto place = occurrences_.place(run);
  block_update_[place] += sums.update;
  block_angle_[place] += sums.last_angle;
  if (run.part != "core") return;
  if (run.layer == 0) injected_[place_of(run.loop)] += summed_variance(run.before);
  if (place_of(run.layer) + 1 == occurrences_.core())
    core_[place_of(run.loop)] += summed_variance(run.after);
}

void Trajectory::add_state(std::int64_t loop, const Tensor& state_BTD) {
  state_[place_of(loop)] += summed_variance(state_BTD);
  if (loop > 0) {
    const auto sums = compare_rows(last_state_, state_BTD);
    loop_update_[place_of(loop - 1)] += sums.update;
    loop_angle_[place_of(loop - 1)] += sums.last_angle;
  }
  last_state_ = state_BTD;
}

void Trajectory::end_sequence(std::int64_t positions) {
  last_state_ = Tensor();
  ++sequences_;
  positions_ += static_cast<double>(positions);
}

Path Trajectory::path() const {
  Path path{.block_angle = divided(block_angle_, sequences_),
            .block_update = divided(block_update_, positions_),
            .loop_angle = divided(loop_angle_, sequences_),
            .loop_update = divided(loop_update_, positions_),
            .variance = divided(state_, positions_),
            .inject_gain = {},
            .core_gain = {},
            .mix_gain = {}};
  // An RLT's one loop is not seen from inside.
  if (occurrences_.core() == 0) return path;
  for (std::size_t t = 0; t < injected_.size(); ++t) {
    path.inject_gain.push_back(injected_[t] / state_[t]);
    path.core_gain.push_back(core_[t] / injected_[t]);
    path.mix_gain.push_back(state_[t + 1] / core_[t]);
  }
  return path;
}

std::vector<double> normalised(const std::vector<double>& variance, std::int64_t trained_loops) {
  const auto at = static_cast<std::size_t>(trained_loops);
  return at < variance.size() ? divided(variance, variance[at]) : std::vector<double>{};
}

}  // namespace rondo
