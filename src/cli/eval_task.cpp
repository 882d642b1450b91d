// Scoring a model on a task's lengths.
#include "cli/eval_task.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/recipe.h"
#include "eval/task_eval.h"

namespace rondo {
namespace {

/// Whether that is the task that a model was trained on; a file may be named in several ways.
bool is_own(const DataConfig& own, const std::string& task) {
  if (own.source != DataSource::kTask) return false;
  if (own.task == task || !is_task_file(own.task) || !is_task_file(task)) return own.task == task;
  std::error_code missing;
  return fs::equivalent(own.task, task, missing);
}

/// The recipe's own data section, or the defaults for another task.
DataConfig data_for(const DataConfig& own, const std::string& task) {
  if (is_own(own, task)) return own;
  Config config;
  config.data.source = DataSource::kTask;
  config.data.task = task;
  resolve(config, "--task");
  return config.data;
}

std::vector<TaskExamples> chosen_sets(const TaskData& data, const TaskRequest& request,
                                      std::span<const std::int64_t> lengths) {
  if (request.split.value_or("test") != "validation") return data.test(lengths, request.examples);
  require(lengths.empty() && request.examples == 0,
          "--split validation with --lengths or --examples: the recipe says what is validated on "
          "(data.validation_lengths); leave them out");
  return data.validation();
}

}  // namespace

std::optional<Json> score_task(const OpenedModel& opened, const TaskRequest& request,
                               std::span<const std::int64_t> loops) {
  const auto& config = opened.stored.config;
  require(!request.split || *request.split == "validation" || *request.split == "test",
          "--split {}: expected validation or test", one_line(request.split.value_or("")));
  require(config.model.vocab >= kTaskIds,
          "{}: its vocabulary of {} is smaller than the {} ids of tasks", opened.file.string(),
          config.model.vocab, kTaskIds);
  std::vector<std::int64_t> lengths;
  if (request.lengths) lengths = parse_integers(*request.lengths, "--lengths");
  std::shared_ptr<const Task> other_file;
  std::optional<TaskData> data;
  const bool own = is_own(config.data, request.task);
  if (is_task_file(request.task) && !own)
    other_file = open_task(request.task);
  else
    data.emplace(data_for(config.data, request.task));
  const auto sets = other_file ? file_examples(*other_file, lengths, request.examples)
                               : chosen_sets(*data, request, lengths);
  const Task& task = other_file ? *other_file : data->task();
  Json rows = Json::array();
  for (const auto& set : sets) {
    const auto results = evaluate_task(opened.stored.model, set.samples, loops);
    if (results.empty()) return std::nullopt;
    for (auto& row : task_rows(task, set, results)) {
      // Trained on is what this model was trained on, not what the task is usually.
      if (!own) row["trained"] = false;
      if (config.model.kind == ModelKind::kRlt)
        row["feedback_interval"] = config.model.feedback_interval;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void print_task_rows(const Json& rows) {
  TextTable table({"task", "split", "length", "loops", "metric", "value", "stderr", "chance",
                   "majority", "examples"});
  const auto number = [](const Json& value) {
    return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : std::string();
  };
  for (const auto& row : rows) {
    if (row["metric"] == "loss_nats" || row["task"] == "text") continue;
    table.add({row["task"], row["split"], std::to_string(row["length"].get<std::int64_t>()),
               std::to_string(row["loops"].get<std::int64_t>()), row["metric"],
               number(row["value"]), number(row["stderr"]), number(row["chance"]),
               number(row["majority"]), std::to_string(row["examples"].get<std::int64_t>())});
  }
  print_table(table);
}

}  // namespace rondo
