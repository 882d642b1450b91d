// Which parts get a gradient from how many loops, and which tensors are used again.
#include "cost/horizon.h"

#include <gtest/gtest.h>

#include "tests/cost/recipes.h"

namespace rondo {
namespace {

using test::with;

std::vector<std::string> lines(const Config& config) {
  std::vector<std::string> out;
  for (const auto& group : gradient_horizon(config).groups)
    out.push_back(group.tensors + ": " + group.sentence);
  return out;
}

TEST(Horizon, TruncatedWithInjection) {
  const auto config = with({"loops.backward=2"});
  const auto horizon = gradient_horizon(config);
  EXPECT_EQ(horizon.loops, 2);
  EXPECT_EQ(horizon.tokens, 256);
  ASSERT_EQ(horizon.groups.size(), 3U);
  EXPECT_EQ(horizon.groups[0].loops, 2);
  EXPECT_TRUE(horizon.groups[0].trained);
  EXPECT_EQ(horizon.groups[2].loops, 0);
  EXPECT_EQ(
      lines(config),
      (std::vector<std::string>{
          "embed.weight, prelude.*: through the injection of the last 2 of 4 loops; starts "
          "once the injection has left its initial value",
          "inject.*, core.*, loop_norm.weight: sum over the last 2 of 4 loops",
          "coda.*, final_norm.weight, head.weight: directly from the loss, through no loop"}));
}

TEST(Horizon, FullBackPropagationReachesTheFirstState) {
  for (const char* backward : {"loops.backward=4", "loops.backward=9", "loops.backward=0"}) {
    const auto config = with({backward});
    EXPECT_EQ(gradient_horizon(config).loops, 4);
    EXPECT_EQ(lines(config)[0],
              "embed.weight, prelude.*: through the injection of all 4 loops and the first state");
    EXPECT_EQ(lines(config)[1], "inject.*, core.*, loop_norm.weight: sum over all 4 loops");
  }
}

TEST(Horizon, WithoutInjectionTruncationCutsThePreludeOff) {
  const auto cut = with({"model.injection=none", "loops.backward=3"});
  EXPECT_FALSE(gradient_horizon(cut).groups[0].trained);
  EXPECT_EQ(gradient_horizon(cut).groups[0].loops, 0);
  EXPECT_EQ(lines(cut)[0],
            "embed.weight, prelude.*: no gradient: nothing is injected and the first loop is not "
            "trained");
  const auto tied = with({"model.injection=none", "loops.backward=2", "model.tied_head=true",
                          "model.prelude_layers=0", "model.coda_layers=0"});
  EXPECT_EQ(lines(tied)[0],
            "embed.weight: no gradient: nothing is injected and the first 2 loops are not trained; "
            "embed.weight learns only as the head");
  EXPECT_EQ(lines(tied)[2], "final_norm.weight: directly from the loss, through no loop");
  const auto whole = with({"model.injection=none"});
  EXPECT_TRUE(gradient_horizon(whole).groups[0].trained);
  EXPECT_EQ(lines(whole)[0], "embed.weight, prelude.*: through all 4 loops, from the first state");
}

TEST(Horizon, AnInjectionThatStartsWithTheInputIsOpenAtOnce) {
  const auto config = with({"loops.backward=1", "model.injection_init=input"});
  EXPECT_EQ(lines(config)[0],
            "embed.weight, prelude.*: through the injection of the last of 4 loops");
}

TEST(Horizon, SampledLoops) {
  const auto config = with({"loops.sampler=uniform", "loops.backward=2"});
  EXPECT_EQ(gradient_horizon(config).loops, 2);
  EXPECT_EQ(lines(config)[1],
            "inject.*, core.*, loop_norm.weight: sum over at most the last 2 loops drawn");
  const auto none = with({"loops.sampler=uniform", "model.injection=none", "loops.backward=4"});
  EXPECT_TRUE(gradient_horizon(none).groups[0].trained);
  EXPECT_EQ(lines(none)[0],
            "embed.weight, prelude.*: only in steps that draw at most 4 loops, from the first "
            "state");
}

TEST(Sharing, LoopedTensorsAndTiedHead) {
  const auto shared = sharing(with({"model.tied_head=true", "loops.forward=5"}));
  ASSERT_EQ(shared.size(), 4U);
  EXPECT_EQ(shared[0].tensors, "inject.*");
  EXPECT_EQ(shared[1].tensors, "core.*");
  EXPECT_EQ(shared[1].uses, 5);
  EXPECT_EQ(shared[2].tensors, "loop_norm.weight");
  EXPECT_EQ(shared[3].tensors, "embed.weight");
  EXPECT_EQ(shared[3].alias, "head.weight");
  EXPECT_EQ(shared[3].uses, 2);
}

TEST(Sharing, APlainTransformerSharesNothing) {
  EXPECT_TRUE(sharing(with({"loops.forward=1", "model.injection=none"})).empty());
}

}  // namespace
}  // namespace rondo
