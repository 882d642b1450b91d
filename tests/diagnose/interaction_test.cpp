// What the interaction costs, what it holds, and sequences that are cut.
#include "diagnose/interaction.h"

#include <gtest/gtest.h>

#include "tests/diagnose/support.h"

namespace rondo {
namespace {

TEST(Interaction, SharesWhatComesBeforeASkip) {
  const auto golden = golden_probes::load("base_loop", at::kFloat, Form::kFused);
  Interaction interaction(golden.model, golden.loops);
  interaction.add(golden.sequences.get(0));
  const auto occurrences = static_cast<std::int64_t>(interaction.occurrences().size());
  ASSERT_EQ(occurrences, 12);
  // Passes of their own for all twelve would each run the eleven others, and one pass is whole.
  const auto naive = occurrences + occurrences * (occurrences - 1);
  EXPECT_EQ(interaction.block_runs(), occurrences + occurrences * (occurrences - 1) / 2);
  EXPECT_LE(static_cast<double>(interaction.block_runs()), 0.6 * static_cast<double>(naive));
}

TEST(Interaction, PlacesAndNamesAgree) {
  const auto golden = golden_probes::load("sandwich", at::kFloat, Form::kFused);
  const Occurrences occurrences(golden.config.model, golden.loops);
  std::string listed = "[";
  for (std::size_t i = 0; i < occurrences.size(); ++i)
    listed += (i > 0 ? ", [\"" : "[\"") + occurrences[i].block + "\", " +
              std::to_string(occurrences[i].loop) + "]";
  EXPECT_EQ(listed + "]", golden.file.metadata.at("occurrences"));
}

TEST(Sequences, TheLastIsCutToTheNumberOfPositions) {
  const auto golden = golden_probes::load("sandwich", at::kFloat, Form::kFused);
  ASSERT_EQ(golden.sequences.positions, 21);
  const auto some = first_positions(golden.sequences, 11);
  EXPECT_EQ(some.count, 2);
  EXPECT_EQ(some.positions, 11);
  EXPECT_EQ(some.get(0).positions(), 8);
  EXPECT_EQ(some.get(1).positions(), 3);
  EXPECT_EQ(some.get(1).input.tokens_BT.size(1), 3);
  EXPECT_EQ(first_positions(golden.sequences, 16).count, 2);
  EXPECT_EQ(first_positions(golden.sequences, 100).positions, 21);
  EXPECT_EQ(first_sequences(golden.sequences, 2).positions, 16);
}

}  // namespace
}  // namespace rondo
