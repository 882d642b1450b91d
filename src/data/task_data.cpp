// Streams, held-out examples and batches of a recipe's task.
#include "data/task_data.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "data/task_generators.h"
#include "data/task_tokens.h"

namespace rondo {
namespace {

// Draws per example wanted, of which most may be repetitions.
constexpr std::int64_t kTries = 64;
// Examples that the mean number of tokens is taken over.
constexpr std::uint64_t kMeasured = 256;

std::int64_t supervised_count(const TaskSample& sample) {
  return std::count_if(sample.targets.begin(), sample.targets.end(),
                       [](std::int32_t id) { return id != kNoTarget; });
}

FileParts open_parts(const DataConfig& data) {
  return split_file_task(data.task, data.validation,
                         {.min = data.min_length, .max = data.max_length});
}

std::string range_words(TaskRange lengths) {
  return lengths.min == lengths.max ? fmt::format("{}", lengths.min)
                                    : fmt::format("{} to {}", lengths.min, lengths.max);
}

std::uint64_t seed_or(std::uint64_t seed, std::uint64_t otherwise) {
  return seed == 0 ? otherwise : seed;
}

}  // namespace

Batch task_batch(std::span<const TaskSample> samples, std::int64_t examples) {
  Batch batch;
  batch.rows = static_cast<std::int64_t>(samples.size());
  for (const auto& sample : samples)
    batch.length = std::max(batch.length, static_cast<std::int64_t>(sample.tokens.size()));
  const auto size = static_cast<std::size_t>(batch.rows * batch.length);
  batch.inputs.assign(size, kTaskPad);
  batch.targets.assign(size, kNoTarget);
  batch.weights.assign(size, 0);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const auto& sample = samples[row];
    const auto begin = static_cast<std::ptrdiff_t>(row) * batch.length;
    std::copy(sample.tokens.begin(), sample.tokens.end(), batch.inputs.begin() + begin);
    std::copy(sample.targets.begin(), sample.targets.end(), batch.targets.begin() + begin);
    const auto supervised = supervised_count(sample);
    const double weight = 1.0 / (static_cast<double>(supervised) * static_cast<double>(examples));
    for (std::size_t t = 0; t < sample.targets.size(); ++t)
      if (sample.targets[t] != kNoTarget)
        batch.weights[static_cast<std::size_t>(begin) + t] = static_cast<float>(weight);
    batch.tokens += static_cast<std::int64_t>(sample.tokens.size());
    batch.predicted += supervised;
  }
  return batch;
}

std::vector<TaskSample> draw_examples(const Task& task, const TaskStream& stream,
                                      std::int64_t count) {
  std::vector<TaskSample> samples;
  std::unordered_set<std::string> seen;
  for (std::uint64_t i = 0; static_cast<std::int64_t>(samples.size()) < count; ++i) {
    auto sample = stream.sample(i);
    require(static_cast<std::int64_t>(i) < kTries * count,
            "task {}: lengths {} hold fewer than {} different examples; ask for fewer "
            "(data.validation_examples, data.test_examples, --examples)",
            task.name, range_words(stream.lengths()), count);
    if (!task.identity || seen.insert(task.identity(sample)).second)
      samples.push_back(std::move(sample));
  }
  return samples;
}

TaskData::TaskData(const DataConfig& data) : data_(data) {
  TaskRange asked{.min = data.min_length, .max = data.max_length};
  if (is_task_file(data.task)) {
    auto parts = open_parts(data);
    asked = parts.training.training;
    trained_ = std::make_shared<const Task>(std::move(parts.training));
    held_out_ = std::make_shared<const Task>(std::move(parts.held_out));
  } else {
    trained_ = data.supervise == Supervise::kPrefix ? open_prefix_parity() : open_task(data.task);
    if (data.label_at == LabelAt::kLast)
      trained_ = std::make_shared<const Task>(label_at_last(*trained_));
    held_out_ = trained_;
  }
  data_.validation_seed = seed_or(data.validation_seed, data.seed + 1);
  data_.test_seed = seed_or(data.test_seed, data.seed + 2);
  // A file's lengths are those that occur in its training part.
  TaskStream stream(trained_, data.seed, TaskSplit::training,
                    held_out_ == trained_ ? asked : trained_->training);
  lengths_ = stream.lengths();
  test_sets_ = test_sets(*held_out_, data, lengths_);
  validation_ = std::make_shared<const std::vector<TaskExamples>>(draw(
      TaskSplit::validation, data_.validation_seed, validation_sets(*held_out_, data, lengths_)));
  if (held_out_ == trained_) {
    std::vector<TaskSet> near;
    for (const auto& set : test_sets_)
      if (set.lengths.min <= lengths_.max) near.push_back(set);
    auto held_out = draw(TaskSplit::test, data_.test_seed, near);
    held_out.insert(held_out.end(), validation_->begin(), validation_->end());
    for (const auto& set : held_out) stream.exclude(set.samples);
  } else {
    training_examples_ = trained_->count(lengths_);
  }
  stream_ = std::make_shared<const TaskStream>(std::move(stream));
  describe();
}

void TaskData::describe() {
  double tokens = 0;
  const auto every = training_examples_ == 0
                         ? kMeasured
                         : std::min(kMeasured, static_cast<std::uint64_t>(training_examples_));
  for (std::uint64_t i = 0; i < every; ++i) {
    const auto row = static_cast<std::int64_t>(stream_->sample(i).tokens.size());
    tokens += static_cast<double>(row);
    longest_row_ = std::max(longest_row_, row);
  }
  mean_row_ = tokens / static_cast<double>(every);
  if (const auto row = rondo::longest_row(data_.task, lengths_.max, data_.label_at)) {
    longest_row_ = *row;
  } else {
    for (std::int64_t i = 0; i < training_examples_; ++i)
      longest_row_ = std::max(
          longest_row_,
          static_cast<std::int64_t>(stream_->sample(static_cast<std::uint64_t>(i)).tokens.size()));
  }
  std::int64_t held_out = 0;
  std::string identity = fmt::format(
      "{} {} {}-{} {}", is_task_file(data_.task) ? sha256_of_file(data_.task) : data_.task,
      word(data_.supervise), lengths_.min, lengths_.max, data_.seed);
  for (const auto& set : *validation_) {
    held_out += static_cast<std::int64_t>(set.samples.size());
    for (const auto& sample : set.samples) identity += "\n" + sample.input + "\t" + sample.target;
  }
  sha256_ = rondo::sha256(identity);
  description_ = fmt::format(
      "task {}: lengths {}{} to train on, {} examples to validate", data_.task,
      range_words(lengths_),
      training_examples_ == 0 ? std::string() : fmt::format(", {} examples", training_examples_),
      held_out);
  if (!stream_->taken().empty())
    description_ += fmt::format("; every input of length {} is held out, none is trained on",
                                fmt::join(stream_->taken(), ", "));
}

std::vector<Batch> TaskData::batches(std::uint64_t first, std::int64_t count,
                                     std::int64_t rows) const {
  std::vector<TaskSample> samples;
  for (std::int64_t i = 0; i < count; ++i)
    samples.push_back(stream_->sample(first + static_cast<std::uint64_t>(i)));
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples[a].tokens.size() < samples[b].tokens.size();
  });
  std::vector<Batch> batches;
  const auto step = static_cast<std::size_t>(rows);
  for (std::size_t begin = 0; begin < order.size(); begin += step) {
    std::vector<TaskSample> group;
    std::vector<std::uint64_t> keys;
    for (std::size_t i = begin; i < std::min(begin + step, order.size()); ++i) {
      group.push_back(std::move(samples[order[i]]));
      keys.push_back(first + order[i]);
    }
    batches.push_back(task_batch(group, count));
    batches.back().keys = std::move(keys);
  }
  return batches;
}

std::vector<TaskExamples> TaskData::draw(TaskSplit split, std::uint64_t seed,
                                         const std::vector<TaskSet>& sets) const {
  std::vector<TaskExamples> list;
  for (const auto& set : sets) {
    const TaskStream stream(held_out_, seed, split, set.lengths);
    const bool trained = set.lengths.min >= lengths_.min && set.lengths.max <= lengths_.max;
    // The held-out examples of a file's trained lengths are those that it is validated on.
    const bool shared = held_out_ != trained_ && trained;
    list.push_back({.lengths = stream.lengths(),
                    .split = std::string(name_of(shared ? TaskSplit::validation : split)),
                    .samples = draw_examples(*held_out_, stream, set.examples),
                    .trained = trained});
  }
  return list;
}

TaskRates TaskData::guess() const {
  TaskRates sum;
  double examples = 0;
  for (const auto& set : *validation_) {
    const auto rates = held_out_->rates(set.lengths, held_out_->metrics.front());
    const auto count = static_cast<double>(set.samples.size());
    sum.chance += count * rates.chance;
    sum.majority += count * rates.majority;
    examples += count;
  }
  return {.chance = sum.chance / examples, .majority = sum.majority / examples};
}

std::vector<TaskExamples> file_examples(const Task& file, std::span<const std::int64_t> lengths,
                                        std::int64_t examples) {
  DataConfig asked;
  asked.test_lengths.assign(lengths.begin(), lengths.end());
  asked.test_examples = examples;
  const auto task = std::make_shared<const Task>(file);
  std::vector<TaskExamples> list;
  for (const auto& set : test_sets(file, asked, file.training, "--lengths")) {
    const TaskStream stream(task, 0, TaskSplit::test, set.lengths);
    list.push_back({.lengths = set.lengths,
                    .split = "all",
                    .samples = draw_examples(file, stream, set.examples)});
  }
  return list;
}

std::vector<TaskExamples> TaskData::test() const {
  return draw(TaskSplit::test, data_.test_seed, test_sets_);
}

std::vector<TaskExamples> TaskData::test(std::span<const std::int64_t> lengths,
                                         std::int64_t examples) const {
  auto asked = data_;
  asked.test_lengths.assign(lengths.begin(), lengths.end());
  if (examples > 0) asked.test_examples = examples;
  return draw(TaskSplit::test, data_.test_seed,
              test_sets(*held_out_, asked, lengths_, "--lengths"));
}

}  // namespace rondo
