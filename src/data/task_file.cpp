// A user's own task: examples from a *.jsonl file.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/batches.h"
#include "data/split.h"
#include "data/task_generators.h"
#include "data/text_checks.h"

namespace rondo {
namespace {

/// A line of a file.
struct Example {
  std::string input, target;
  std::int64_t length = 0;
};

/// In the order of their lengths, and in the file's among equal ones.
using Examples = std::vector<Example>;

std::string string_of(const nlohmann::json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  require(
      found != object.end() && found->is_string() && !found->get_ref<const std::string&>().empty(),
      "{}: expected a string \"{}\" that is not empty", where, key);
  return found->get<std::string>();
}

Example parse_example(std::string_view line, const std::string& where) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  require(object.is_object(), "{}: expected a JSON object with strings \"input\" and \"target\"",
          where);
  Example example{.input = string_of(object, "input", where),
                  .target = string_of(object, "target", where),
                  .length = 0};
  example.length = static_cast<std::int64_t>(example.input.size());
  if (const auto length = object.find("length"); length != object.end()) {
    const bool whole = length->is_number_unsigned() && *length >= 1 && *length <= kLongestTask;
    require(whole, "{}: \"length\": expected a whole number from 1 to {}", where, kLongestTask);
    example.length = length->get<std::int64_t>();
  }
  require(example.input.size() + example.target.size() <= std::size_t{1} << 20,
          "{}: input and target are longer than 1 MiB; expected shorter ones", where);
  return example;
}

Examples read_examples(const fs::path& file) {
  const std::string text = read_file(file);
  Examples examples;
  std::size_t number = 1;
  for (std::size_t at = byte_order_mark(text); at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (!is_blank(line)) {
      check_text(line, {.source = file.string(), .line = number, .offset = at});
      examples.push_back(parse_example(line, fmt::format("{}:{}", file.string(), number)));
    }
    at = end + 1;
  }
  require(!examples.empty(), "{}: no examples; expected JSON objects, one a line", file.string());
  std::stable_sort(examples.begin(), examples.end(),
                   [](const Example& a, const Example& b) { return a.length < b.length; });
  return examples;
}

/// The examples of a range of lengths. Throws an input error when there are none.
std::span<const Example> select_examples(const Examples& examples, TaskRange lengths,
                                         const std::string& name) {
  const auto first =
      std::lower_bound(examples.begin(), examples.end(), lengths.min,
                       [](const Example& e, std::int64_t length) { return e.length < length; });
  const auto last =
      std::upper_bound(first, examples.end(), lengths.max,
                       [](std::int64_t length, const Example& e) { return length < e.length; });
  require(first != last, "{}: no example of length {}{}; expected lengths that occur in it", name,
          lengths.min,
          lengths.max == lengths.min  ? std::string()
          : lengths.max < lengths.min ? " or more"
                                      : fmt::format(" to {}", lengths.max));
  return {first, last};
}

template <typename Key>
TaskRates counted(const std::map<Key, std::int64_t>& counts) {
  std::int64_t all = 0;
  std::int64_t most = 0;
  for (const auto& [key, count] : counts) {
    all += count;
    most = std::max(most, count);
  }
  return {.chance = 1 / static_cast<double>(counts.size()),
          .majority = static_cast<double>(most) / static_cast<double>(all)};
}

TaskRates file_rates(std::span<const Example> examples, TaskMetric metric) {
  std::map<std::string, std::int64_t> answers;
  std::map<std::int32_t, std::int64_t> ids;
  for (const auto& example : examples) {
    ++answers[example.target];
    for (const std::int32_t id : answer_sample(example.input, example.target, 0).targets)
      if (id != kNoTarget) ++ids[id];
  }
  return metric == TaskMetric::accuracy_sequence ? counted(answers) : counted(ids);
}

/// Examples as a task of their own; `source` names them in errors.
Task task_of(Examples list, const std::string& source) {
  const auto examples = std::make_shared<const Examples>(std::move(list));
  Task task{.name = source, .summary = fmt::format("{} examples", examples->size())};
  task.final_label = false;
  task.shortest = examples->front().length;
  task.longest = examples->back().length;
  task.training = {.min = task.shortest, .max = task.longest};
  task.metrics = {TaskMetric::accuracy, TaskMetric::accuracy_sequence};
  task.generate = [examples, source](Draws& draws, TaskRange lengths) {
    const auto chosen = select_examples(*examples, lengths, source);
    const Example& example = chosen[draws.permuted(chosen.size())];
    return answer_sample(example.input, example.target, example.length);
  };
  task.rates = [examples, source](TaskRange lengths, TaskMetric metric) {
    return file_rates(select_examples(*examples, lengths, source), metric);
  };
  task.count = [examples, source](TaskRange lengths) {
    return static_cast<std::int64_t>(select_examples(*examples, lengths, source).size());
  };
  return task;
}

bool has_length(const Example& example, TaskRange lengths) {
  return example.length >= lengths.min && example.length <= lengths.max;
}

/// Lengths that a sweep over a file visits at most.
constexpr std::size_t kSweepLengths = 24;
/// Examples of a validation, and of each length of a sweep, at most.
constexpr std::int64_t kScored = 1024;

/// Evenly chosen lengths of the held-out examples, first and last always among them.
void set_file_protocol(Task& task, const Examples& examples, TaskRange trained) {
  std::vector<std::int64_t> lengths;
  std::int64_t in_range = 0;
  for (const auto& example : examples) {
    if (lengths.empty() || lengths.back() != example.length) lengths.push_back(example.length);
    in_range += has_length(example, trained) ? 1 : 0;
  }
  task.validation = {{.lengths = trained, .examples = std::min(in_range, kScored)}};
  const std::size_t visits = std::min(kSweepLengths, lengths.size());
  for (std::size_t i = 0; i < visits; ++i) {
    const auto at = visits == 1 ? 0 : i * (lengths.size() - 1) / (visits - 1);
    const TaskRange single{.min = lengths[at], .max = lengths[at]};
    task.test.push_back({.lengths = single, .examples = std::min(kScored, task.count(single))});
  }
}

/// Marks the examples to hold out: of every length the given share of its different inputs, at
/// least one where there are two, those with the smallest hashes. So the choice depends neither on
/// a seed nor on the order of the file, and equal inputs stay together.
std::set<std::string> held_out_inputs(const Examples& examples, double share, TaskRange trained) {
  std::map<std::int64_t, std::map<std::string, std::string>> by_hash;
  for (const auto& example : examples)
    if (has_length(example, trained))
      by_hash[example.length][sha256(example.input)] = example.input;
  std::set<std::string> chosen;
  for (const auto& [length, inputs] : by_hash) {
    const auto count = static_cast<double>(inputs.size());
    auto left = std::llround(share * count);
    if (inputs.size() >= 2) left = std::clamp<long long>(left, 1, std::llround(count) - 1);
    for (auto at = inputs.begin(); left > 0 && at != inputs.end(); ++at, --left)
      chosen.insert(at->second);
  }
  return chosen;
}

}  // namespace

Task file_task(const fs::path& file) {
  const auto examples = read_examples(file);
  Task task = task_of(examples, file.string());
  set_file_protocol(task, examples, task.training);
  return task;
}

FileParts split_file_task(const std::string& file, const std::string& validation,
                          TaskRange trained) {
  const Examples all = read_examples(file);
  if (trained.min == 0) trained.min = all.front().length;
  if (trained.max == 0) trained.max = all.back().length;
  select_examples(all, trained, file);
  const auto share = validation_share(validation);
  const auto chosen = share ? held_out_inputs(all, *share, trained) : std::set<std::string>();
  Examples training, held_out;
  if (!share) held_out = read_examples(validation);
  std::set<std::string> elsewhere;
  for (const auto& example : held_out) elsewhere.insert(example.input);
  for (const auto& example : all) {
    const bool train = has_length(example, trained) && !chosen.contains(example.input);
    require(!elsewhere.contains(example.input) || !train,
            "{}: the input \"{}\" is also in {}, which is trained on; expected others", validation,
            one_line(example.input), file);
    if (train)
      training.push_back(example);
    else if (!elsewhere.contains(example.input))
      held_out.push_back(example);
  }
  std::stable_sort(held_out.begin(), held_out.end(),
                   [](const Example& a, const Example& b) { return a.length < b.length; });
  const auto in_range = [&](const Example& example) { return has_length(example, trained); };
  require(
      !training.empty() && std::any_of(held_out.begin(), held_out.end(), in_range),
      "{}: too few examples of lengths {} to {} to hold some out; expected two different inputs "
      "of one length at least, or a file of its own as data.validation",
      file, trained.min, trained.max);
  FileParts parts{.training = task_of(std::move(training), file),
                  .held_out = task_of(held_out, file)};
  parts.training.training = parts.held_out.training = trained;
  set_file_protocol(parts.held_out, held_out, trained);
  return parts;
}

}  // namespace rondo
