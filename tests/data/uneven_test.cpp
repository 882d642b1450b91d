// Sequences without filling: nothing that has a target is lost or moved to another sequence.
#include "data/uneven.h"

#include <gtest/gtest.h>

#include "base/position_rows.h"

namespace rondo {
namespace {

constexpr auto kNone = kNoTarget;

Batch four() {
  Batch batch;
  batch.rows = batch.length = 4;
  batch.inputs = {1, 2, 3, 9, 4, 9, 9, 9, 5, 6, 7, 8, 10, 11, 9, 9};
  batch.targets = {kNone, kNone, 30, kNone, 40,    kNone, kNone, kNone,
                   kNone, 60,    70, 80,    kNone, kNone, kNone, kNone};
  batch.weights = {0, 0, .3F, 0, .4F, 0, 0, 0, 0, .6F, .7F, .8F, 0, 0, 0, 0};
  batch.tokens = 10;
  batch.predicted = 5;
  batch.bytes = 6;
  return batch;
}

TEST(Uneven, SortsByLengthAndLeavesFillingOut) {
  const auto uneven = without_filling(four(), 1);
  // The third, the first, the second, and the last, which has no target.
  EXPECT_EQ(uneven.lengths, (std::vector<std::int64_t>{4, 3, 1, 1}));
  EXPECT_EQ(uneven.batch.inputs, (std::vector<std::int32_t>{5, 6, 7, 8, 1, 2, 3, 4, 10}));
  EXPECT_EQ(uneven.batch.targets,
            (std::vector<std::int32_t>{kNone, 60, 70, 80, kNone, kNone, 30, 40, kNone}));
  EXPECT_EQ(uneven.batch.weights, (std::vector<float>{0, .6F, .7F, .8F, 0, 0, .3F, .4F, 0}));
  EXPECT_EQ(uneven.batch.rows, 1);
  EXPECT_EQ(uneven.batch.length, 9);
  EXPECT_EQ(uneven.batch.tokens, 10);
  EXPECT_EQ(uneven.batch.predicted, 5);
  EXPECT_EQ(uneven.batch.bytes, 6);
}

TEST(Uneven, SomeGoOnWithTheLongestOfThem) {
  const auto uneven = without_filling(four(), 2);
  EXPECT_EQ(uneven.lengths, (std::vector<std::int64_t>{4, 4, 1, 1}));
  EXPECT_EQ(uneven.batch.inputs, (std::vector<std::int32_t>{5, 6, 7, 8, 1, 2, 3, 9, 4, 10}));
}

TEST(Uneven, EqualLengthsStayInOrder) {
  Batch batch;
  batch.rows = batch.length = 2;
  batch.inputs = {1, 2, 3, 4};
  batch.targets = {2, 3, 4, 5};
  const auto uneven = without_filling(batch, 16);
  EXPECT_EQ(uneven.lengths, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(uneven.batch.inputs, batch.inputs);
  EXPECT_TRUE(uneven.batch.weights.empty());
}

TEST(PositionRows, OfFallingLengths) {
  const auto rows = PositionRows::of({4, 3, 1, 1});
  EXPECT_EQ(rows.first, (std::vector<std::int64_t>{0, 4, 6, 8, 9}));
  EXPECT_EQ(rows.positions(), 4);
  EXPECT_EQ(rows.rows(), 9);
  EXPECT_EQ(rows.at(1), 2);
  EXPECT_EQ(rows.positions_of_rows(), (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(PositionRows::of({2, 2}).first, PositionRows::even(2, 2).first);
}

}  // namespace
}  // namespace rondo
