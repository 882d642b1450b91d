// Generation against whole passes: greedy choices, log-probabilities, seeds, ends and stops.
#include "eval/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "config/recipe.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

/// A model with random weights that says something: its logits differ by a few nats.
Model small_model(const Overrides& extra) {
  Overrides set = {"model.d_model=16", "model.heads=2", "model.d_ff=24", "model.init=scaled",
                   "model.logit_scale=30.0"};
  set.insert(set.end(), extra.begin(), extra.end());
  auto config = parse_recipe("", "small", set);
  if (config.model.vocab == 0) config.model.vocab = 256;
  return initial_model(config.model, 7);
}

const TextForm& bytes_form() {
  static const TextForm form{DataConfig{}};
  return form;
}

GenerateRequest request_of(std::int64_t loops, std::int64_t max_tokens = 12) {
  return {.prompt = {72, 101, 108}, .loops = loops, .max_tokens = max_tokens};
}

/// Logits of the last position by a whole pass over the ids.
Tensor last_logits(const Model& model, const std::vector<std::int32_t>& ids, std::int64_t loops) {
  const NoGrad guard;
  const ModelPass pass(model,
                       {.tokens_BT = token_tensor(ids, 1), .documents_BT = {}, .sample_keys = {}});
  return pass.logits(pass.run({.loops = loops}))[0][static_cast<std::int64_t>(ids.size()) - 1];
}

struct ModelCase {
  Overrides set;
  std::int64_t loops;
};

const std::vector<ModelCase>& model_cases() {
  static const std::vector<ModelCase> cases = {
      {{}, 1},
      {{}, 5},
      {{"model.timestep=adaln", "model.history=channel", "model.history_window=2"}, 3},
      {{"model.kind=rlt", "model.window=4"}, 1},
      {{"model.kind=rlt", "model.window=4", "model.feedback_interval=4"}, 1},
      {{"model.kind=rlt", "model.window=4", "model.feedback_interval=0"}, 1}};
  return cases;
}

TEST(Generate, GreedyTextIsThatOfWholePasses) {
  for (const auto& [set, loops] : model_cases()) {
    const auto model = small_model(set);
    auto request = request_of(loops);
    request.sampling.temperature = 0;
    const auto result = generate(model, bytes_form(), request);
    auto ids = request.prompt;
    for (const auto token : result.tokens) {
      EXPECT_EQ(token, last_logits(model, ids, loops).argmax().item<std::int64_t>());
      ids.push_back(token);
    }
    EXPECT_EQ(result.tokens.size(), 12U);
    EXPECT_EQ(result.stop_reason, "length");
  }
}

TEST(Generate, LogProbabilitiesAreThoseOfOnePass) {
  for (const auto& [set, loops] : model_cases()) {
    const auto model = small_model(set);
    for (const double temperature : {0.0, 0.7, 1.5}) {
      auto request = request_of(loops, 20);
      request.sampling = {.temperature = temperature, .top_k = 40, .top_p = 0.95, .seed = 3};
      const auto result = generate(model, bytes_form(), request);
      const auto scores = score_continuation(model, request.prompt, result.tokens, loops);
      ASSERT_EQ(scores.size(), result.log_probabilities.size());
      for (std::size_t i = 0; i < scores.size(); ++i)
        EXPECT_NEAR(scores[i], result.log_probabilities[i], 1e-5) << i;
    }
  }
}

TEST(Generate, ScoresAreLogarithmsOfSoftmax) {
  const auto model = small_model({});
  const auto scores = score_continuation(model, std::vector{1, 2}, std::vector{200}, 4);
  const auto expected =
      at::log_softmax(last_logits(model, {1, 2}, 4).to(at::kDouble), -1)[200].item<double>();
  EXPECT_NEAR(scores.at(0), expected, 1e-6);
  double all = 0;
  for (std::int32_t id = 0; id < 256; ++id)
    all += std::exp(score_continuation(model, std::vector{1, 2}, std::vector{id}, 4).at(0));
  EXPECT_NEAR(all, 1.0, 1e-6);
}

TEST(Generate, ASeedGivesTheSameTextAgain) {
  const auto model = small_model({});
  auto request = request_of(2, 30);
  request.sampling.seed = 5;
  const auto first = generate(model, bytes_form(), request);
  const auto again = generate(model, bytes_form(), request);
  EXPECT_EQ(first.tokens, again.tokens);
  request.sampling.seed = 6;
  EXPECT_NE(first.tokens, generate(model, bytes_form(), request).tokens);
  // A shorter text is the beginning of a longer one.
  request.sampling.seed = 5;
  request.max_tokens = 10;
  const auto part = generate(model, bytes_form(), request).tokens;
  EXPECT_TRUE(std::equal(part.begin(), part.end(), first.tokens.begin()));
}

TEST(Generate, LongPromptsAreReadInPieces) {
  const auto model = small_model({});
  auto request = request_of(2, 1);
  request.prompt.resize(1100);
  for (std::size_t i = 0; i < request.prompt.size(); ++i)
    request.prompt[i] = static_cast<std::int32_t>(i * 31 % 256);
  const auto result = generate(model, bytes_form(), request);
  EXPECT_NEAR(score_continuation(model, request.prompt, result.tokens, 2).at(0),
              result.log_probabilities.at(0), 1e-4);
}

TEST(Generate, EndsWithTheEndOfAText) {
  // Byte 0 stands between documents.
  auto model = small_model({});
  auto& looped = std::get<LoopedLm>(model);
  {
    const NoGrad guard;
    looped.final_norm.weight.value.zero_();
  }
  auto request = request_of(1);
  request.sampling.temperature = 0;  // all logits are 0: the lowest id, 0
  const auto result = generate(model, bytes_form(), request);
  EXPECT_EQ(result.stop_reason, "end");
  EXPECT_EQ(result.tokens, std::vector<std::int32_t>{0});
  EXPECT_EQ(result.text, "");
  EXPECT_NEAR(result.log_probabilities.at(0), -std::log(256.0), 1e-9);
}

TEST(Generate, StopsBeforeAStop) {
  const auto model = small_model({});
  auto request = request_of(2, 40);
  request.sampling.temperature = 0.3;
  std::string shown;
  const auto whole =
      generate(model, bytes_form(), request, [&](std::string_view text) { shown += text; });
  EXPECT_EQ(shown, whole.text);
  // Some byte of the text as a stop.
  const auto at = std::find_if(whole.tokens.begin() + 2, whole.tokens.end(),
                               [](std::int32_t id) { return id > 0 && id < 128; });
  ASSERT_NE(at, whole.tokens.end());
  request.stops = {std::string(1, static_cast<char>(*at))};
  const auto stopped = generate(model, bytes_form(), request);
  EXPECT_EQ(stopped.stop_reason, "stop");
  EXPECT_EQ(stopped.text.find(request.stops[0]), std::string::npos);
  EXPECT_LE(stopped.tokens.size(), static_cast<std::size_t>(at - whole.tokens.begin()) + 1);
  EXPECT_EQ(stopped.tokens.back(), *at);
}

TEST(Generate, StopsWhenInterrupted) {
  const auto model = small_model({});
  set_interrupt(2);
  const auto result = generate(model, bytes_form(), request_of(1));
  set_interrupt(0);
  EXPECT_EQ(result.stop_reason, "interrupted");
  EXPECT_TRUE(result.tokens.empty());
}

TEST(Generate, IdsWithoutMeaningAreNeverChosen) {
  // 300 rows, of which 256 stand for bytes.
  const auto model = small_model({"model.vocab=300"});
  auto request = request_of(2, 200);
  request.sampling.temperature = 3;
  for (const auto id : generate(model, bytes_form(), request).tokens) EXPECT_LT(id, 256);
}

TEST(TextForm, TasksAreWrittenAsTheirExamples) {
  DataConfig data;
  data.source = DataSource::kTask;
  data.task = "parity";
  const TextForm parity(data);
  EXPECT_EQ(parity.beginning(), std::vector<std::int32_t>{kTaskBos});
  EXPECT_EQ(parity.ids("01=", "--prompt"), (std::vector<std::int32_t>{48, 49, 61}));
  EXPECT_EQ(parity.piece(49, 0), "1");
  EXPECT_EQ(parity.piece(kTaskEos, 1), "");
  EXPECT_EQ(parity.piece(kTaskPad, 1), "<|pad|>");
  EXPECT_EQ(parity.vocab(), 277);
  data.task = "s5-swaps";
  const TextForm swaps(data);
  EXPECT_EQ(swaps.ids("4 14  119", "--prompt"), (std::vector<std::int32_t>{4, 14, 119}));
  EXPECT_EQ(swaps.piece(14, 0), "14");
  EXPECT_EQ(swaps.piece(14, 1), " 14");
  EXPECT_ANY_THROW(swaps.ids("4 x", "--prompt"));
  EXPECT_ANY_THROW(swaps.ids("256", "--prompt"));
  EXPECT_ANY_THROW(parity.ids("\xC3(", "--prompt"));
}

}  // namespace
}  // namespace rondo
