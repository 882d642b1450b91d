// Grouping runs by config, means and spreads, the table as text and as JSON.
#include "record/table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "config/kinds.h"
#include "config/recipe.h"
#include "record/config_lines.h"
#include "record/utf8.h"

namespace rondo {
namespace {

/// What runs of one group share: the config without the seed and what measurement chose.
std::string group_key(const RunRecord& run) {
  if (run.config) {
    Config config = *run.config;
    config.seed = 0;
    config.train.micro_batch = 0;
    // The hash leaves out the number of steps where a run may be lengthened; longer runs are still
    // others.
    return fmt::format("{} {} {}", config_hash(config), config.train.steps,
                       config.train.stop_after);
  }
  std::string key;
  for (const auto& [name, value] : config_lines(run.config_text))
    if (name != "seed") key.append(name).append(" = ").append(value).append("\n");
  return key;
}

void count_state(RunGroup& group, RunState state) {
  switch (state) {
    case RunState::kRunning:
      ++group.running;
      break;
    case RunState::kFinished:
      ++group.finished;
      break;
    case RunState::kInterrupted:
      ++group.interrupted;
      break;
    case RunState::kDiverged:
      ++group.diverged;
      break;
    case RunState::kFailed:
    case RunState::kDead:
      ++group.failed;
      break;
  }
}

class GroupBuilder {
 public:
  GroupBuilder(const RunTable& table, RunGroup& group) : table_(table), group_(group) {}

  void build() {
    for (const auto i : group_.runs) {
      group_.seeds.push_back(table_.runs[i].summary.seed);
      count_state(group_, table_.runs[i].state);
    }
    group_.provisional = group_.finished == 0 && group_.running + group_.interrupted > 0;
    shape();
    group_.tokens = mean_of(&RunSummary::tokens);
    group_.flops = mean_of(&RunSummary::flops);
    group_.train_loss_nats = spread(&RunSummary::train_loss_nats);
    group_.validation_loss_nats = spread(&RunSummary::validation_loss_nats);
    group_.bits_per_byte = spread(&RunSummary::bits_per_byte);
    group_.accuracy = spread(&RunSummary::accuracy);
  }

 private:
  /// What all runs of the group have in common, from the first that knows it.
  void shape() {
    const auto first = [&](auto&& get) {
      for (const auto i : group_.runs)
        if (const double value = get(table_.runs[i].summary); !std::isnan(value)) return value;
      return kNotRecorded;
    };
    auto& parameters = group_.parameters;
    parameters.total = first([](const auto& s) { return s.parameters.total; });
    parameters.embedding = first([](const auto& s) { return s.parameters.embedding; });
    parameters.once = first([](const auto& s) { return s.parameters.once; });
    parameters.recurrent = first([](const auto& s) { return s.parameters.recurrent; });
    parameters.non_embedding = first([](const auto& s) { return s.parameters.non_embedding; });
    group_.flops_per_token_train = first([](const auto& s) { return s.flops_per_token_train; });
    group_.flops_per_token_forward = first([](const auto& s) { return s.flops_per_token_forward; });
    group_.effective_depth = first([](const auto& s) { return s.effective_depth; });
    if (const auto& config = table_.runs[group_.runs.front()].config) {
      group_.physical_depth = static_cast<double>(physical_depth(*config));
      const auto& loops = config->loops;
      group_.loops = static_cast<double>(loops.forward);
      group_.backward_loops =
          static_cast<double>(loops.backward == 0 ? loops.forward : loops.backward);
      group_.sampler = std::string(word(loops.sampler));
      if (!is_drawn(loops.sampler))
        group_.backward_loops = std::min(group_.backward_loops, group_.loops);
    }
  }

  double mean_of(double RunSummary::*field) const { return spread(field).mean; }

  [[nodiscard]] Spread spread(double RunSummary::*field) const {
    Spread out;
    std::vector<double> counted;
    for (const auto i : group_.runs) {
      const RunRecord& run = table_.runs[i];
      out.values.push_back(run.summary.*field);
      if (counts(group_, run) && std::isfinite(run.summary.*field))
        counted.push_back(run.summary.*field);
    }
    out.count = counted.size();
    out.mean = mean(counted);
    out.sd = sample_sd(counted);
    return out;
  }

  const RunTable& table_;
  RunGroup& group_;
};

void name_groups(RunTable& table) {
  std::set<std::string> taken;
  for (auto& group : table.groups) {
    std::vector<std::string> names;
    for (const auto i : group.runs) names.push_back(table.names[i]);
    std::string name = group_name(names, group.seeds);
    // Folders "seed-1", "seed-2": what they belong to is said one level up.
    if (name.empty()) {
      std::error_code ignored;
      const fs::path dir = fs::absolute(table.runs[group.runs.front()].dir, ignored);
      name = with_valid_utf8((dir / "..").lexically_normal().parent_path().filename().string());
    }
    if (name.empty()) name = names.front();
    group.name = name;
    for (int copy = 2; !taken.insert(group.name).second; ++copy)
      group.name = fmt::format("{} ({})", name, copy);
  }
}

std::string count_text(double value) { return std::isnan(value) ? "–" : si(value); }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json spread_json(const Spread& spread) {
  Json values = Json::array();
  for (const double value : spread.values) values.push_back(number(value));
  return {{"mean", number(spread.mean)},
          {"sd", number(spread.sd)},
          {"count", spread.count},
          {"values", values}};
}

Json group_json(const RunTable& table, const RunGroup& group) {
  Json runs = Json::array();
  for (const auto i : group.runs) runs.push_back(table.names[i]);
  return {{"name", group.name},
          {"runs", runs},
          {"seeds", group.seeds},
          {"parameters", number(group.parameters.total)},
          {"flops_per_token_train", number(group.flops_per_token_train)},
          {"flops_per_token_forward", number(group.flops_per_token_forward)},
          {"flops", number(group.flops)},
          {"tokens", number(group.tokens)},
          {"loops", number(group.loops)},
          {"backward_loops", number(group.backward_loops)},
          {"sampler", group.sampler},
          {"physical_depth", number(group.physical_depth)},
          {"effective_depth", number(group.effective_depth)},
          {"train_loss_nats", spread_json(group.train_loss_nats)},
          {"validation_loss_nats", spread_json(group.validation_loss_nats)},
          {"bits_per_byte", spread_json(group.bits_per_byte)},
          {"accuracy", spread_json(group.accuracy)},
          {"finished", group.finished},
          {"running", group.running},
          {"interrupted", group.interrupted},
          {"diverged", group.diverged},
          {"failed", group.failed},
          {"provisional", group.provisional}};
}

}  // namespace

bool counts(const RunGroup& group, const RunRecord& run) {
  if (!group.provisional) return run.state == RunState::kFinished;
  return run.state == RunState::kRunning || run.state == RunState::kInterrupted;
}

RunTable make_run_table(std::vector<RunRecord> runs) {
  RunTable table;
  table.runs = std::move(runs);
  table.names = run_names(table.runs);
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const auto [at, is_new] = place.emplace(group_key(table.runs[i]), table.groups.size());
    if (is_new) table.groups.emplace_back();
    table.groups[at->second].runs.push_back(i);
  }
  for (auto& group : table.groups) GroupBuilder(table, group).build();
  name_groups(table);
  table.matches = comparison_matches(table);
  table.warnings = comparison_warnings(table);
  return table;
}

std::string spread_text(const Spread& spread) {
  if (spread.count == 0) return "–";
  const int decimals = std::abs(spread.mean) < 100 ? 4 : 1;
  if (std::isnan(spread.sd)) return fmt::format("{:.{}f}", spread.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", spread.mean, decimals, spread.sd, decimals);
}

std::string loops_text(const RunGroup& group) {
  if (std::isnan(group.loops)) return "–";
  const bool truncated = group.backward_loops < group.loops;
  std::string notes;
  if (group.sampler != word(Sampler::kFixed)) notes = group.sampler;
  if (truncated) notes += fmt::format("{}B {}", notes.empty() ? "" : ", ", group.backward_loops);
  return notes.empty() ? fmt::format("{}", group.loops)
                       : fmt::format("{} ({})", group.loops, notes);
}

TextTable to_text(const RunTable& table) {
  // Text has bits per byte, tasks have accuracy.
  bool bits = false, accuracy = false;
  for (const auto& group : table.groups) {
    bits = bits || group.bits_per_byte.count > 0;
    accuracy = accuracy || group.accuracy.count > 0;
  }
  std::vector<std::string> header = {"group",  "seeds",          "parameters",  "loops",
                                     "layers", "depth",          "FLOPs/token", "tokens",
                                     "FLOPs",  "validation nats"};
  if (bits || !accuracy) header.emplace_back("bits/byte");
  if (accuracy) header.emplace_back("accuracy");
  header.emplace_back("failed");
  TextTable text(header);
  for (const auto& group : table.groups) {
    std::vector<std::string> row = {group.name,
                                    join(group.seeds, ","),
                                    count_text(group.parameters.total),
                                    loops_text(group),
                                    count_text(group.physical_depth),
                                    count_text(group.effective_depth),
                                    count_text(group.flops_per_token_train),
                                    count_text(group.tokens),
                                    count_text(group.flops),
                                    spread_text(group.validation_loss_nats)};
    if (bits || !accuracy) row.push_back(spread_text(group.bits_per_byte));
    if (accuracy) row.push_back(spread_text(group.accuracy));
    row.push_back(std::to_string(group.diverged + group.failed));
    text.add(std::move(row));
  }
  return text;
}

Json to_json(const RunTable& table) {
  Json groups = Json::array(), runs = Json::array();
  for (const auto& group : table.groups) groups.push_back(group_json(table, group));
  for (std::size_t i = 0; i < table.runs.size(); ++i) {
    const RunSummary& summary = table.runs[i].summary;
    runs.push_back({{"name", table.names[i]},
                    {"path", with_valid_utf8(table.runs[i].dir.string())},
                    {"seed", summary.seed},
                    {"state", word(table.runs[i].state)},
                    {"steps", number(summary.steps)},
                    {"tokens", number(summary.tokens)},
                    {"flops", number(summary.flops)},
                    {"validation_loss_nats", number(summary.validation_loss_nats)},
                    {"bits_per_byte", number(summary.bits_per_byte)},
                    {"accuracy", number(summary.accuracy)},
                    {"tokens_per_s", number(summary.tokens_per_s)},
                    {"wall_s", number(summary.wall_s)},
                    {"peak_bytes", number(summary.peak_bytes)}});
  }
  Json matches = Json::array();
  for (const auto& match : table.matches)
    matches.push_back({{"what", match.what}, {"equal", match.equal}, {"text", match.text}});
  return {{"groups", groups}, {"runs", runs}, {"matches", matches}, {"warnings", table.warnings}};
}

}  // namespace rondo
