// Scoring tasks.
#include "eval/task_eval.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/interrupt.h"
#include "eval/loss.h"

namespace rondo {
namespace {

// What a pass may hold, and how many rows make its products as quick as they get.
constexpr double kPassBytes = 512e6;
constexpr std::int64_t kMostRows = 512;

/// Rows of `length` tokens that a pass without gradients takes: feed-forward, a few copies of the
/// stream, logits twice, and scores of attention.
std::int64_t rows_for(const ModelConfig& model, std::int64_t length) {
  const auto per_token = 4.0 * static_cast<double>(4 * model.d_ff + 8 * model.d_model +
                                                   2 * model.vocab + model.heads * length);
  const double rows = kPassBytes / (per_token * static_cast<double>(length));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(rows), 1, kMostRows);
}

/// Places of a batch that are supervised, flat.
std::vector<std::int64_t> supervised_places(const Batch& batch) {
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < batch.targets.size(); ++i)
    if (batch.targets[i] != kNoTarget) places.push_back(static_cast<std::int64_t>(i));
  return places;
}

Tensor index_tensor(const std::vector<std::int64_t>& values) {
  return at::tensor(at::ArrayRef<std::int64_t>(values.data(), values.size()), at::kLong);
}

/// Sums over examples of their losses, for mean and spread.
struct LossSums {
  double sum = 0, squares = 0;
};

/// Adds the examples of a batch, of which each weighs 1.
void add_batch(const Tensor& logits_BTV, const Batch& batch,
               const std::vector<std::int64_t>& places, TaskResult& result, LossSums& sums) {
  const auto chosen_NV = logits_BTV.flatten(0, 1).index_select(0, index_tensor(places));
  std::vector<std::int64_t> wanted;
  for (const auto place : places) wanted.push_back(batch.targets[static_cast<std::size_t>(place)]);
  const auto losses = cross_entropy(chosen_NV, index_tensor(wanted)).to(at::kDouble).contiguous();
  const auto answers = chosen_NV.argmax(1).contiguous();
  const auto* loss = losses.data_ptr<double>();
  const auto* answer = answers.data_ptr<std::int64_t>();

  std::vector<std::int32_t> predicted(batch.targets.size(), kNoTarget);
  std::vector<double> of_row(static_cast<std::size_t>(batch.rows), 0.0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<std::size_t>(places[i]);
    predicted[place] = static_cast<std::int32_t>(answer[i]);
    of_row[static_cast<std::size_t>(places[i] / batch.length)] +=
        loss[i] * static_cast<double>(batch.weights[place]);
  }
  const auto length = static_cast<std::size_t>(batch.length);
  for (std::size_t row = 0; row < of_row.size(); ++row) {
    result.score.add(std::span(batch.targets).subspan(row * length, length),
                     std::span(predicted).subspan(row * length, length));
    sums.sum += of_row[row];
    sums.squares += of_row[row] * of_row[row];
  }
}

}  // namespace

Tensor weighted_loss(const Tensor& read_BSD, const Head& head, const Batch& batch,
                     std::int64_t first) {
  const auto count = read_BSD.size(1);
  std::vector<std::int64_t> places, targets;
  std::vector<float> weights;
  for (std::int64_t row = 0; row < batch.rows; ++row)
    for (std::int64_t t = 0; t < count; ++t) {
      const auto at = static_cast<std::size_t>(row * batch.length + first + t);
      if (batch.targets[at] == kNoTarget) continue;
      places.push_back(row * count + t);
      targets.push_back(batch.targets[at]);
      weights.push_back(batch.weights[at]);
    }
  const auto read_ND = read_BSD.flatten(0, 1);
  // Nothing to learn, but still a scalar that depends on everything.
  if (places.empty()) return head(read_ND.narrow(0, 0, 1)).sum() * 0;
  const auto chosen_NV = head(read_ND.index_select(0, index_tensor(places)));
  const auto weights_N =
      at::tensor(at::ArrayRef<float>(weights.data(), weights.size())).to(chosen_NV.dtype());
  return (cross_entropy(chosen_NV, index_tensor(targets)) * weights_N).sum();
}

std::vector<TaskResult> evaluate_task(const Model& model, std::span<const TaskSample> samples,
                                      std::span<const std::int64_t> loops) {
  const NoGrad guard;
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples[a].tokens.size() < samples[b].tokens.size();
  });
  std::vector<TaskResult> results(loops.size());
  std::vector<LossSums> sums(loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) results[i].loops = loops[i];
  for (std::size_t begin = 0; begin < order.size();) {
    if (interrupt_signal() != 0) return {};
    // As many as fit with the longest of them, which is the last one.
    auto rows = static_cast<std::size_t>(
        rows_for(config_of(model), static_cast<std::int64_t>(samples[order[begin]].tokens.size())));
    rows = std::min(rows, order.size() - begin);
    const auto longest = static_cast<std::int64_t>(samples[order[begin + rows - 1]].tokens.size());
    rows = std::min(rows, static_cast<std::size_t>(rows_for(config_of(model), longest)));
    std::vector<TaskSample> group;
    LoopedInput input;
    for (std::size_t i = begin; i < begin + rows; ++i) {
      group.push_back(samples[order[i]]);
      input.sample_keys.push_back(kEvaluationKeys + static_cast<std::uint64_t>(order[i]));
    }
    const auto batch = task_batch(group, 1);
    const auto places = supervised_places(batch);
    input.tokens_BT = token_tensor(batch.inputs, batch.rows);
    const ModelPass pass(model, input);
    pass.run_each(loops, [&](std::int64_t loop, const Tensor& state) {
      const auto at = std::find(loops.begin(), loops.end(), loop);
      const auto i = static_cast<std::size_t>(at - loops.begin());
      add_batch(pass.logits(state), batch, places, results[i], sums[i]);
    });
    begin += rows;
  }
  const auto n = static_cast<double>(samples.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].loss_nats = sums[i].sum / n;
    const double variance = (sums[i].squares - sums[i].sum * sums[i].sum / n) / (n - 1);
    results[i].stderr_nats = std::sqrt(std::max(0.0, variance) / n);
  }
  return results;
}

std::vector<std::int64_t> task_loops(const Config& config) {
  const auto all = default_loops(config);
  if (all.size() == 1) return all;
  const auto trained = config.loops.forward;
  std::vector<std::int64_t> loops = {1, trained, 2 * trained, 4 * trained};
  std::erase_if(loops, [&](std::int64_t r) { return r > all.back(); });
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  return loops;
}

Json task_rows(const Task& task, const TaskExamples& set, std::span<const TaskResult> results) {
  Json rows = Json::array();
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  for (const auto& result : results) {
    Json common = {{"task", task.name},
                   {"loops", result.loops},
                   {"length", set.lengths.max},
                   {"split", set.split},
                   {"examples", result.score.examples},
                   {"tokens", result.score.tokens},
                   {"trained", set.trained}};
    if (set.lengths.min != set.lengths.max) common["min_length"] = set.lengths.min;
    for (const auto metric : task.metrics) {
      const auto rates = task.rates(set.lengths, metric);
      const double value = result.score.value(task, metric);
      Json row = common;
      row.update({{"metric", name_of(metric)},
                  {"value", value},
                  {"stderr", number(result.score.error(task, metric))},
                  {"chance", rates.chance},
                  {"majority", rates.majority},
                  {"above_chance", number(above_chance(value, rates.chance))}});
      rows.push_back(std::move(row));
    }
    const double chance = task.rates(set.lengths, task.metrics.front()).chance;
    Json row = common;
    row.update({{"metric", "loss_nats"},
                {"value", result.loss_nats},
                {"stderr", number(result.stderr_nats)},
                {"chance", -std::log(chance)},
                {"majority", Json()}});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rondo
