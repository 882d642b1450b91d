// A user's own task: examples from a *.jsonl file.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "data/batches.h"
#include "data/task_generators.h"
#include "data/text_checks.h"

namespace rondo {
namespace {

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
          lengths.max == lengths.min ? std::string() : fmt::format(" to {}", lengths.max));
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

}  // namespace

Task file_task(const fs::path& file) {
  const auto examples = std::make_shared<const Examples>(read_examples(file));
  Task task{.name = file.string(), .summary = fmt::format("{} examples", examples->size())};
  task.final_label = false;
  task.shortest = examples->front().length;
  task.longest = examples->back().length;
  task.training = {.min = task.shortest, .max = task.longest};
  task.metrics = {TaskMetric::accuracy, TaskMetric::accuracy_sequence};
  task.generate = [examples, name = task.name](Draws& draws, TaskRange lengths) {
    const auto chosen = select_examples(*examples, lengths, name);
    const Example& example = chosen[draws.permuted(chosen.size())];
    return answer_sample(example.input, example.target, example.length);
  };
  task.rates = [examples, name = task.name](TaskRange lengths, TaskMetric metric) {
    return file_rates(select_examples(*examples, lengths, name), metric);
  };
  return task;
}

}  // namespace rondo
