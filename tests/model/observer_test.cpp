// What can be seen of a pass from outside, and passes that begin in the middle of a loop.
#include <gtest/gtest.h>

#include "tests/model/support.h"

namespace rondo {
namespace {

using testing_models::tiny_config;
using testing_models::tiny_input;
using testing_models::tiny_model;

constexpr std::int64_t kPassLoops = 5;

/// A recipe with all that a loop may have.
Config conditioned(const std::string& timestep) {
  return tiny_config({"model.prelude_layers=2", "model.core_layers=2", "model.coda_layers=2",
                      "model.history=channel", "model.history_window=2",
                      "model.timestep=" + timestep});
}

/// What a block saw, kept.
struct Seen {
  std::string part;
  std::int64_t layer, loop;
  Tensor before, after;
};

BlockObserver keep_in(std::vector<Seen>& list) {
  return [&list](const BlockRun& run) {
    list.push_back({std::string(run.part), run.layer, run.loop, run.before, run.after});
  };
}

TEST(Observer, SeesEveryBlockInOrderAndChangesNothing) {
  const NoGrad guard;
  const auto model = tiny_model(conditioned("adaln").model);
  std::vector<Seen> seen;
  const LoopedPass observed(model, tiny_input(), keep_in(seen)), plain(model, tiny_input());
  const auto state = observed.run({.loops = kPassLoops});
  EXPECT_TRUE(state.equal(plain.run({.loops = kPassLoops})));
  EXPECT_TRUE(observed.head(observed.final_norm(observed.coda(state))).equal(plain.logits(state)));
  ASSERT_EQ(seen.size(), 2 + 2 * kPassLoops + 2);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const bool core = i >= 2 && i < 2 + 2 * kPassLoops;
    EXPECT_EQ(seen[i].part, i < 2 ? "prelude" : core ? "core" : "coda");
    EXPECT_EQ(seen[i].layer, static_cast<std::int64_t>(i % 2));
    EXPECT_EQ(seen[i].loop, core ? static_cast<std::int64_t>(i / 2 - 1) : 0);
    EXPECT_TRUE(i % 2 == 0 || seen[i].before.is_same(seen[i - 1].after)) << i;
    EXPECT_GT((seen[i].after - seen[i].before).abs().max().item<double>(), 1e-3) << i;
  }
  EXPECT_TRUE(seen[1].after.equal(plain.e_BTD()));
  EXPECT_TRUE(observed.read_out(state).defined());
  EXPECT_EQ(seen.size(), 2 + 2 * kPassLoops + 2) << "read_out is not observed";
}

TEST(Observer, APassGoesOnFromInsideALoop) {
  const NoGrad guard;
  for (const auto* timestep : {"none", "loop-gate", "branch-gate", "adaln"}) {
    const auto model = tiny_model(conditioned(timestep).model);
    std::vector<Seen> seen;
    std::vector<LoopPoint> points;
    const LoopedPass pass(model, tiny_input(), keep_in(seen));
    LoopPoint at{pass.initial_state(), 0, {}};
    const auto whole = pass.run({.loops = kPassLoops}, [&](std::int64_t loop, const Tensor& state) {
      if (loop > 0) pass.advance(at, state);
      points.push_back(at);
    });
    const auto blocks = seen;
    for (const auto& block : blocks) {
      if (block.part != "core") continue;
      auto point = points[static_cast<std::size_t>(block.loop)];
      const auto state = pass.finish_loop(point, block.layer, block.before, kPassLoops);
      pass.advance(point, state);
      EXPECT_EQ(point.loop, block.loop + 1);
      const auto rest = pass.run_from(point, {.loops = kPassLoops - point.loop, .of = kPassLoops});
      EXPECT_TRUE(rest.equal(whole))
          << timestep << ": core." << block.layer << ", loop " << block.loop;
    }
  }
}

TEST(Observer, APassTakesAnotherPreludesOutput) {
  const NoGrad guard;
  const auto model = tiny_model(conditioned("none").model);
  std::vector<Seen> seen;
  const LoopedPass first(model, tiny_input(), keep_in(seen));
  const auto e = first.prelude(seen[1].before, 1);
  EXPECT_TRUE(e.equal(first.e_BTD()));
  const LoopedPass same(model, tiny_input(), e), other(model, tiny_input(), seen[1].before);
  EXPECT_TRUE(same.run({.loops = 2}).equal(first.run({.loops = 2})));
  EXPECT_FALSE(other.run({.loops = 2}).equal(first.run({.loops = 2})));
}

}  // namespace
}  // namespace rondo
