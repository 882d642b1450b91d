// Sequences by index: every window once per epoch, the same on every machine and after any stop.
#include "data/batches.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::contains;
using testing::error_of;

/// A stream of byte tokens: position i holds i % 251 + 1, so that no token is the separator, except
/// at the positions given.
TokenView stream_of(std::uint64_t size, const std::vector<std::uint64_t>& separators = {}) {
  const auto tokens = std::make_shared<std::vector<std::uint8_t>>(size);
  for (std::uint64_t i = 0; i < size; ++i) (*tokens)[i] = static_cast<std::uint8_t>(i % 251 + 1);
  for (const std::uint64_t position : separators) (*tokens)[position] = 0;
  TokenPart part;
  part.name = "stream";
  part.tokens = tokens->data();
  part.width = 1;
  part.count = size;
  part.owner = tokens;
  const auto store = std::make_shared<TokenStore>(std::vector{part}, 256);
  return {store, {{0, size}}};
}

TrainingSet training_set(std::uint64_t size, std::int64_t length, std::uint64_t seed = 1) {
  return {stream_of(size), open_tokenizer("bytes"), Cut{.length = length}, seed, "stream"};
}

ValidationSet validation_set(std::uint64_t size, std::int64_t length) {
  return {stream_of(size), open_tokenizer("bytes"), Cut{.length = length}, "stream"};
}

TEST(Training, EveryWindowComesOncePerEpoch) {
  for (const std::uint64_t size : {5u, 9u, 10u, 40u, 41u, 4001u}) {
    const TrainingSet set = training_set(size, 4);
    EXPECT_EQ(set.windows(), (size - 1) / 4);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<std::uint64_t> seen;
      for (std::uint64_t i = 0; i < set.windows(); ++i)
        seen.insert(set.window_of(epoch * set.windows() + i));
      EXPECT_EQ(seen.size(), set.windows());
      EXPECT_EQ(*seen.rbegin(), set.windows() - 1);
    }
  }
}

TEST(Training, EveryTokenButTheFirstIsPredictedOncePerEpoch) {
  const TrainingSet set = training_set(202, 10);
  std::vector<int> predicted(252, 0);
  const Batch batch = set.batch(0, 20);
  for (const std::int32_t target : batch.targets) ++predicted.at(static_cast<std::size_t>(target));
  EXPECT_EQ(std::accumulate(predicted.begin() + 2, predicted.begin() + 202, 0), 200);
  EXPECT_EQ(*std::max_element(predicted.begin(), predicted.end()), 1);
}

TEST(Training, TheOrderDependsOnSeedAndEpoch) {
  const TrainingSet one = training_set(4001, 4, 1), again = training_set(4001, 4, 1);
  const TrainingSet other = training_set(4001, 4, 2);
  std::vector<std::uint64_t> first, repeated, second, different;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    first.push_back(one.window_of(i));
    repeated.push_back(again.window_of(i));
    second.push_back(one.window_of(1000 + i));
    different.push_back(other.window_of(i));
  }
  EXPECT_EQ(first, repeated);
  EXPECT_NE(first, second);
  EXPECT_NE(first, different);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST(Training, TheOrderIsPinned) {
  // Resumed runs and other machines rely on these numbers.
  const TrainingSet set = training_set(401, 4, 20260914);
  std::vector<std::uint64_t> windows;
  for (const std::uint64_t g : {0ULL, 1ULL, 2ULL, 99ULL, 100ULL, 12'345'678'901'234ULL})
    windows.push_back(set.window_of(g));
  EXPECT_EQ(windows, (std::vector<std::uint64_t>{70, 40, 81, 47, 2, 14}));
}

TEST(Training, ASampleDependsOnItsIndexAlone) {
  const TrainingSet set = training_set(1000, 8);
  const Batch all = set.batch(37, 12);
  // In another order, in other batches, from another object: as ranks and resumed runs do.
  const TrainingSet other = training_set(1000, 8);
  for (std::int64_t row = 11; row >= 0; --row) {
    const Batch one = other.batch(37 + static_cast<std::uint64_t>(row), 1);
    const auto begin = all.inputs.begin() + row * 8;
    EXPECT_TRUE(std::equal(one.inputs.begin(), one.inputs.end(), begin));
  }
}

TEST(Training, TargetsAreTheNextTokens) {
  const TrainingSet set = training_set(100, 8);
  std::vector<std::int32_t> tokens(9);
  set.sample(5, tokens);
  const Batch batch = set.batch(5, 1);
  EXPECT_TRUE(std::equal(batch.inputs.begin(), batch.inputs.end(), tokens.begin()));
  EXPECT_TRUE(std::equal(batch.targets.begin(), batch.targets.end(), tokens.begin() + 1));
  EXPECT_EQ(tokens[0], static_cast<std::int32_t>(set.window_of(5) * 8 + 1));
  EXPECT_EQ(batch.predicted, 8);
  EXPECT_EQ(batch.bytes, 8);
  EXPECT_TRUE(batch.documents.empty());
}

TEST(Training, DataShorterThanASequenceIsAnErrorWithTheNumbers) {
  EXPECT_EQ(training_set(257, 256).windows(), 1u);
  EXPECT_EQ(error_of([] { training_set(256, 256); }),
            "stream: the training part has 256 tokens, fewer than one sequence of 257 "
            "(data.sequence_length + 1); give more data or a smaller data.sequence_length");
}

TEST(Training, DocumentsAreCountedFromTheStartOfTheRow) {
  const TrainingSet set(stream_of(9, {2, 3}), open_tokenizer("bytes"),
                        Cut{.length = 8, .document_mask = true}, 1, "stream");
  const Batch batch = set.batch(0, 1);
  EXPECT_EQ(batch.inputs, (std::vector<std::int32_t>{1, 2, 0, 0, 5, 6, 7, 8}));
  EXPECT_EQ(batch.documents, (std::vector<std::int32_t>{0, 0, 0, 1, 2, 2, 2, 2}));
  std::vector<std::int32_t> tokens(9), documents(8);
  set.sample(0, tokens, documents);
  EXPECT_EQ(documents, batch.documents);
}

TEST(Training, SpansOfAnotherSizeAreAnError) {
  const TrainingSet set = training_set(100, 8);
  std::vector<std::int32_t> tokens(8), documents(9);
  EXPECT_TRUE(contains(error_of([&] { set.sample(0, tokens); }), "expected 9 and 8 or 0"));
  tokens.resize(9);
  EXPECT_FALSE(error_of([&] { set.sample(0, tokens, documents); }).empty());
}

TEST(Validation, EveryTokenButTheFirstIsPredictedOnce) {
  for (const std::uint64_t size : {2u, 8u, 9u, 10u, 16u, 17u, 18u, 200u}) {
    const ValidationSet set = validation_set(size, 8);
    const Batch batch = set.batch(0, set.windows());
    EXPECT_EQ(batch.predicted, static_cast<std::int64_t>(size) - 1);
    EXPECT_EQ(batch.bytes, batch.predicted);
    std::int32_t next = 2;
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
      if (batch.targets[i] == kNoTarget) continue;
      EXPECT_EQ(batch.targets[i], next++);
      EXPECT_EQ(batch.inputs[i], batch.targets[i] - 1);
    }
    EXPECT_EQ(next, static_cast<std::int32_t>(size) + 1);
  }
}

TEST(Validation, AShortLastWindowIsFilledUp) {
  const ValidationSet set = validation_set(11, 8);
  ASSERT_EQ(set.windows(), 2);
  const Batch last = set.batch(1, 1);
  EXPECT_EQ(last.inputs, (std::vector<std::int32_t>{9, 10, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(last.targets, (std::vector<std::int32_t>{10, 11, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(last.predicted, 2);
}

TEST(Validation, FewerTokensAreSpreadEvenly) {
  const ValidationSet set = validation_set(201, 2);
  EXPECT_EQ(set.windows(), 100);
  const ValidationSet part = set.spread(11);
  ASSERT_EQ(part.windows(), 5);
  const Batch batch = part.batch(0, 5);
  std::vector<std::int32_t> starts;
  for (std::size_t i = 0; i < 5; ++i) starts.push_back(batch.inputs[2 * i]);
  EXPECT_EQ(starts, (std::vector<std::int32_t>{21, 61, 101, 141, 181}));
  EXPECT_EQ(set.spread(0).windows(), 100);
  EXPECT_EQ(set.spread(1'000'000).windows(), 100);
  EXPECT_EQ(set.spread(1).windows(), 1);
  const ValidationSet most = set.spread(198);
  std::set<std::int32_t> seen;
  const Batch rows = most.batch(0, 99);
  for (std::size_t i = 0; i < 99; ++i) seen.insert(rows.inputs[2 * i]);
  EXPECT_EQ(seen.size(), 99u);
}

TEST(Validation, PastTheEndIsAnError) {
  const ValidationSet set = validation_set(33, 8);
  EXPECT_EQ(set.batch(4, 0).rows, 0);
  EXPECT_TRUE(contains(error_of([&] { (void)set.batch(3, 2); }), "3 to 5 were asked for"));
  EXPECT_FALSE(error_of([&] { (void)set.batch(-1, 1); }).empty());
  EXPECT_FALSE(error_of([&] { (void)set.spread(8).batch(1, 1); }).empty());
}

TEST(Validation, NothingToPredictIsAnError) {
  EXPECT_TRUE(contains(error_of([] { validation_set(1, 8); }), "at least 2 are needed"));
}

TEST(Views, RangesAreReadAsOneStream) {
  const TokenView whole = stream_of(20);
  const auto store = std::make_shared<TokenStore>(whole.store());
  const TokenView view(store, {{2, 4}, {4, 5}, {9, 10}, {15, 20}});
  EXPECT_EQ(view.size(), 9u);
  EXPECT_EQ(view.ranges().size(), 3u);
  std::vector<std::int32_t> tokens(9);
  view.read(0, tokens);
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{3, 4, 5, 10, 16, 17, 18, 19, 20}));
  tokens.resize(3);
  view.read(2, tokens);
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{5, 10, 16}));
  EXPECT_FALSE(error_of([&] { view.read(7, tokens); }).empty());
  EXPECT_FALSE(error_of([&] { TokenView(store, {{5, 9}, {8, 10}}); }).empty());
  EXPECT_FALSE(error_of([&] { TokenView(store, {{5, 21}}); }).empty());
}

}  // namespace
}  // namespace rondo
