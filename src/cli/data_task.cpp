// `rondo data task`: examples of a task as a model reads them.
#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "data/task.h"

namespace rondo {
namespace {

/// Printed at most; all of it is held in memory.
constexpr std::int64_t kMostTokens = 20'000'000;

struct TaskArguments {
  std::string name, split = "training", label_at = "mark";
  std::int64_t count = 10, length = -1, seed = 20260914;
  bool json = false;
};

TaskSplit split_of(const std::string& word) {
  for (const auto split : {TaskSplit::training, TaskSplit::validation, TaskSplit::test})
    if (word == name_of(split)) return split;
  fail("--split {}: expected training, validation or test", one_line(word));
}

Json json_of(const TaskSample& sample) {
  return {{"input", sample.input},
          {"target", sample.target},
          {"length", sample.length},
          {"tokens", sample.tokens},
          {"targets", sample.targets}};
}

std::shared_ptr<const Task> task_of(const TaskArguments& arguments) {
  auto task = open_task(arguments.name);
  if (arguments.label_at == "mark") return task;
  require(arguments.label_at == "last", "--label-at {}: expected mark or last",
          one_line(arguments.label_at));
  require(has_label(task->name),
          "--label-at last: {} has no single label an example; leave it \"mark\"", task->name);
  return std::make_shared<const Task>(label_at_last(*task));
}

void run_task(const TaskArguments& arguments) {
  const auto task = task_of(arguments);
  const TaskRange asked = arguments.length < 0
                              ? task->training
                              : TaskRange{.min = arguments.length, .max = arguments.length};
  const TaskStream stream(task, static_cast<std::uint64_t>(arguments.seed),
                          split_of(arguments.split), asked);
  const TaskRange lengths = stream.lengths();
  if (lengths != asked)
    log("note: {} has odd lengths only: {} instead of {}", task->name, lengths.max, asked.max);
  require(arguments.count <= kMostTokens / lengths.max,
          "--count {}: examples of length {} make more than {} tokens; expected at most {} of them",
          arguments.count, lengths.max, kMostTokens, kMostTokens / lengths.max);
  Json samples = Json::array();
  TextTable table({"input", "target"});
  for (std::int64_t i = 0; i < arguments.count; ++i) {
    const auto sample = stream.sample(static_cast<std::uint64_t>(i));
    if (arguments.json)
      samples.push_back(json_of(sample));
    else
      table.add({sample.input, sample.target});
  }
  Json metrics = Json::array();
  TextTable rates({"metric", "chance", "majority"});
  for (const auto metric : task->metrics) {
    const auto rate = task->rates(lengths, metric);
    metrics.push_back(
        {{"metric", name_of(metric)}, {"chance", rate.chance}, {"majority", rate.majority}});
    rates.add({std::string(name_of(metric)), fmt::format("{:.4g}", rate.chance),
               fmt::format("{:.4g}", rate.majority)});
  }
  if (arguments.json)
    return print_json({{"task", task->name},
                       {"split", arguments.split},
                       {"lengths", {lengths.min, lengths.max}},
                       {"rates", metrics},
                       {"samples", samples}});
  print_table(table);
  print_text("\n");
  print_table(rates);
}

}  // namespace

void declare_data_task(CLI::App& data) {
  auto arguments = std::make_shared<TaskArguments>();
  auto* command = data.add_subcommand("task", "Print examples of a task with exact answers");
  command
      ->add_option("NAME", arguments->name,
                   "parity, addition, mod5-flat, mod5-brackets, s5, s5-swaps, a5, z60, even-pairs, "
                   "cycle, a group such as z7 or a4xz5, or a *.jsonl file")
      ->required();
  add_whole_number(*command, "--count", arguments->count, 1, 1'000'000, "examples; default 10");
  add_whole_number(*command, "--length", arguments->length, 1, kLongestTask,
                   "of each example; default the lengths trained on");
  add_whole_number(*command, "--seed", arguments->seed, 0, std::numeric_limits<std::int64_t>::max(),
                   "default 20260914");
  command->add_option("--split", arguments->split,
                      "training, validation or test; default training");
  command->add_option(
      "--label-at", arguments->label_at,
      "of a task with one label an example: mark, a final = (default), or last, the "
      "last symbol");
  command->add_flag("--json", arguments->json, "print one JSON object, with token ids and targets");
  command->footer(
      "Example i depends on seed, split, task, length and i alone. docs/tasks.md says what is\n"
      "supervised in each task. Below the examples: what guessing scores.\n"
      "Example: rondo data task s5 --count 3 --length 8 --seed 1");
  command->callback([arguments] { run_task(*arguments); });
}

}  // namespace rondo
