// Text and tasks behind one face.
#include "train/run_data.h"

#include "config/task_lengths.h"
#include "eval/loss.h"
#include "eval/task_eval.h"

namespace rondo {

StepBatches window_batches(const TrainingSet& data, const TrainConfig& train) {
  return [&data, batch = train.batch, micro = train.micro_batch](std::int64_t step) {
    std::vector<Batch> batches;
    for (std::int64_t row = 0; row < batch; row += micro)
      batches.push_back(data.batch(static_cast<std::uint64_t>((step - 1) * batch + row), micro));
    return batches;
  };
}

std::variant<RunData::Text, TaskData> RunData::open(const DataConfig& data) {
  if (data.source == DataSource::kTask) return TaskData(data);
  auto set = open_dataset(data);
  auto validation = set.validation.spread(data.validation_tokens);
  return Text{.set = std::move(set), .validation = std::move(validation)};
}

RunData::RunData(const DataConfig& data)
    : name_(data.source == DataSource::kTask ? data.task : data.path), data_(open(data)) {}

Config RunData::completed(Config config) const {
  if (const auto* data = task()) {
    config.data.min_length = data->lengths().min;
    config.data.max_length = data->lengths().max;
    config.data.sequence_length = data->longest_row();
  }
  return config;
}

std::int64_t RunData::vocab() const {
  return task() != nullptr ? kTaskIds : std::get<Text>(data_).set.tokenizer->vocab();
}

const std::string& RunData::sha256() const {
  return task() != nullptr ? task()->sha256() : std::get<Text>(data_).set.sha256;
}

const std::string& RunData::description() const {
  return task() != nullptr ? task()->description() : std::get<Text>(data_).set.description;
}

double RunData::training_tokens() const {
  if (const auto* data = task())
    return static_cast<double>(data->training_examples()) * data->mean_row();
  return static_cast<double>(std::get<Text>(data_).set.training.tokens());
}

double RunData::tokens_per_sequence() const {
  if (const auto* data = task()) return data->mean_row();
  return static_cast<double>(std::get<Text>(data_).set.training.length());
}

StepBatches RunData::batches(const TrainConfig& train) const {
  if (const auto* data = task())
    return [data, batch = train.batch, micro = train.micro_batch](std::int64_t step) {
      return data->batches(static_cast<std::uint64_t>((step - 1) * batch), batch, micro);
    };
  return window_batches(std::get<Text>(data_).set.training, train);
}

std::vector<Validation> RunData::validate(const Model& model,
                                          std::span<const std::int64_t> loops) const {
  std::vector<Validation> results;
  const auto* data = task();
  if (data == nullptr) {
    for (const auto& point : evaluate_loss(model, std::get<Text>(data_).validation, loops))
      results.push_back({.loops = point.loops,
                         .loss_nats = point.loss_nats,
                         .stderr_nats = point.stderr_nats,
                         .bits_per_byte = point.bits_per_byte,
                         .accuracy = {}});
    return results;
  }
  std::vector<TaskSample> samples;
  for (const auto& set : data->validation())
    samples.insert(samples.end(), set.samples.begin(), set.samples.end());
  for (const auto& result : evaluate_task(model, samples, loops))
    results.push_back({.loops = result.loops,
                       .loss_nats = result.loss_nats,
                       .stderr_nats = result.stderr_nats,
                       .bits_per_byte = {},
                       .accuracy = result.score.value(data->task(), data->task().metrics.front())});
  return results;
}

}  // namespace rondo
