// The page, section by section.
#include "report/page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "record/config_lines.h"
#include "record/field_names.h"
#include "report/chart_parts.h"
#include "report/html.h"
#include "report/page_parts.h"
#include "report/theme.h"
#include "report/words.h"

namespace rondo {
namespace {

using Row = std::vector<std::string>;

TableColumn column(std::string_view key) {
  const FieldName name = field_name(key);
  return {std::string(name.title), std::string(name.meaning), true, std::string(name.unit)};
}

std::string group_cell(const RunTable& table, std::size_t i) {
  const std::string name = escape_html(table.groups[i].name);
  return table.groups.size() < 2 ? name : legend_mark(series_colour(i), series_path(i)) + name;
}

bool any(const RunTable& table, double RunSummary::*field) {
  return std::any_of(table.runs.begin(), table.runs.end(),
                     [&](const auto& run) { return std::isfinite(run.summary.*field); });
}

std::string wall_text(double seconds) { return std::isnan(seconds) ? "–" : duration(seconds); }
std::string bytes_text(double count) { return std::isnan(count) ? "–" : bytes(count); }

/// The groups: what each cost and what it reached.
std::string groups_section(const RunTable& table, const std::string& anchor = "groups") {
  const bool bits = any(table, &RunSummary::bits_per_byte);
  const bool accuracy = any(table, &RunSummary::accuracy);
  // What came out stands first, so that a narrow screen shows it; then what it cost.
  std::vector<TableColumn> columns = {
      {"group", "Runs that differ in nothing but their seed.", false, ""},
      {"seeds", "Finished runs / all runs of the group.", true, ""}};
  if (bits) columns.push_back(column("bits_per_byte"));
  if (accuracy) columns.push_back(column("accuracy"));
  columns.insert(
      columns.end(),
      {column("validation_loss_nats"),
       column("parameters"),
       {"loops", "Loops run in training, T; B: the last ones that are back-propagated.", true, ""},
       {"layers", std::string(field_name("physical_depth").meaning), true, ""},
       {"depth", std::string(field_name("effective_depth").meaning), true, "layers"},
       {"forward FLOPs", std::string(field_name("flops_per_token_forward").meaning), true,
        "per token"},
       column("flops"),
       {"tokens", std::string(field_name("tokens").meaning), true, ""}});
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.groups.size(); ++i) {
    const RunGroup& group = table.groups[i];
    Row row = {group_cell(table, i), fmt::format("{} / {}", group.finished, group.runs.size())};
    if (bits) row.push_back(spread_text(group.bits_per_byte));
    if (accuracy) row.push_back(spread_text(group.accuracy));
    for (auto& cell : {spread_text(group.validation_loss_nats), count_text(group.parameters.total),
                       escape_html(loops_text(group)), count_text(group.physical_depth),
                       count_text(group.effective_depth), count_text(group.flops_per_token_forward),
                       count_text(group.flops), count_text(group.tokens)})
      row.push_back(cell);
    rows.push_back(std::move(row));
  }
  const char* title = table.groups.size() > 1 ? "Comparison" : "Over all seeds";
  std::string matches;
  for (const auto& line : matches_text(table.matches))
    matches += fmt::format("<p class=\"fine\">{}</p>\n", escape_html(line));
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", anchor, title) +
         html_table(columns, rows) +
         "<p class=\"fine\">Mean ± sample standard deviation over the seeds that finished.</p>\n" +
         matches + "</section>\n";
}

/// The main numbers of a single run.
std::string figures_section(const RunTable& table) {
  const RunSummary& summary = table.runs.front().summary;
  std::string out = "<dl class=\"figures\">\n";
  const auto add = [&](std::string_view title, const std::string& value) {
    if (value != "–")
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(title),
                         escape_html(value));
  };
  add("validation loss, nats/token", decimal_text(summary.validation_loss_nats, 4));
  add("bits per byte", decimal_text(summary.bits_per_byte, 4));
  add("accuracy", decimal_text(summary.accuracy, 4));
  add("training loss, nats/token", decimal_text(summary.train_loss_nats, 4));
  add("parameters", count_text(summary.parameters.total));
  add("loops", loops_text(table.groups.front()));
  add("effective depth, layers", count_text(summary.effective_depth));
  add("training FLOPs", count_text(summary.flops));
  add("forward FLOPs per token", count_text(summary.flops_per_token_forward));
  add("training tokens", count_text(summary.tokens));
  add("tokens per second", count_text(summary.tokens_per_s));
  add("wall time", wall_text(summary.wall_s));
  add("peak memory", bytes_text(summary.peak_bytes));
  return out + "</dl>\n";
}

std::string notes_section(const RunTable& table) {
  return notes_aside(table.groups.size() > 1 ? "Before you compare" : "Before you rely on this",
                     table.warnings);
}

/// The depth sweep in numbers: a row per group, a column per number of loops.
std::string sweep_table(const RunTable& table, const Chart& chart) {
  std::set<double> loops;
  std::map<std::string, std::map<double, double>> values;
  for (const auto& row : chart.data.rows) {
    const double r = std::get<double>(row[1]);
    loops.insert(r);
    values[std::get<std::string>(row[0])][r] = std::get<double>(row[2]);
  }
  std::vector<TableColumn> columns = {{"loops", "", false, ""}};
  for (const double r : loops) columns.push_back({fmt::format("{}", r), "", true, ""});
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.groups.size(); ++i) {
    const auto at = values.find(table.groups[i].name);
    if (at == values.end()) continue;
    Row row = {group_cell(table, i)};
    for (const double r : loops)
      row.push_back(at->second.contains(r) ? decimal_text(at->second.at(r), 4) : "");
    rows.push_back(std::move(row));
  }
  return "<details><summary>The sweep in numbers</summary>\n" + html_table(columns, rows) +
         "</details>\n";
}

/// The length sweep in numbers: a row per group, a column per length, mean ± SD over the seeds in
/// per cent, and how many runs of the group are missing from it.
std::string lengths_table(const RunTable& table, const Chart& chart) {
  std::set<double> lengths;
  std::map<std::string, std::map<double, std::string>> values;
  for (const auto& row : chart.data.rows) {
    if (std::get<std::string>(row[2]) != "accuracy") continue;
    const auto& kind = std::get<std::string>(row[4]);
    const double length = std::get<double>(row[3]);
    const double value = 100 * std::get<double>(row[5]), sd = 100 * std::get<double>(row[8]);
    lengths.insert(length);
    if (kind.starts_with("mean"))
      values[std::get<std::string>(row[0])][length] =
          std::isnan(sd) ? decimal_text(value, 1) : fmt::format("{:.1f} ± {:.1f}", value, sd);
    if (std::get<std::string>(row[0]).empty()) values[kind][length] = decimal_text(value, 1);
  }
  std::vector<TableColumn> columns = {{"accuracy, %", "", false, ""}};
  for (const double length : lengths) columns.push_back({fmt::format("{}", length), "", true, ""});
  columns.push_back({"failed", "Runs that diverged or failed; not in the mean.", true, ""});
  std::vector<Row> rows;
  const auto add = [&](std::string head, const std::string& key, std::string failed) {
    const auto at = values.find(key);
    if (at == values.end()) return;
    Row row = {std::move(head)};
    for (const double length : lengths)
      row.push_back(at->second.contains(length) ? at->second.at(length) : "");
    row.push_back(std::move(failed));
    rows.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < table.groups.size(); ++i) {
    const auto& group = table.groups[i];
    add(group_cell(table, i), group.name,
        fmt::format("{} / {}", group.diverged + group.failed, group.runs.size()));
  }
  for (const char* level : {"chance", "majority"}) add(level, level, "");
  return "<details open><summary>The sweep in numbers</summary>\n" + html_table(columns, rows) +
         "</details>\n";
}

/// What stands below a chart.
std::string below_chart(const RunTable& table, const Chart& chart) {
  if (chart.name.starts_with("depth")) return sweep_table(table, chart);
  return chart.name.starts_with("length") ? lengths_table(table, chart) : std::string();
}

std::string runs_section(const RunTable& table) {
  std::vector<TableColumn> columns = {
      {"run", "", false, ""},
      column("seed"),
      {"state", "", false, ""},
      column("bits_per_byte"),
      column("accuracy"),
      column("validation_loss_nats"),
      column("train_loss_nats"),
      column("steps"),
      {"tokens", "Training throughput.", true, "per second"},
      {"wall time", std::string(field_name("wall_s").meaning), true, ""},
      {"peak memory", std::string(field_name("peak_bytes").meaning), true, ""}};
  std::vector<Row> rows;
  for (const auto& group : table.groups)
    for (const auto i : group.runs) {
      const RunRecord& run = table.runs[i];
      const RunSummary& summary = run.summary;
      std::string state(word(run.state));
      if (run.state == RunState::kFailed && !run.stops.empty() && !run.stops.back().message.empty())
        state += ": " + run.stops.back().message;
      rows.push_back({escape_html(table.names[i]), escape_html(summary.seed), escape_html(state),
                      decimal_text(summary.bits_per_byte, 4), decimal_text(summary.accuracy, 4),
                      decimal_text(summary.validation_loss_nats, 4),
                      decimal_text(summary.train_loss_nats, 4), decimal_text(summary.steps, 0),
                      count_text(summary.tokens_per_s), wall_text(summary.wall_s),
                      bytes_text(summary.peak_bytes)});
    }
  drop_empty_columns(columns, rows);
  return "<section id=\"runs\">\n<h2>Every run</h2>\n" + html_table(columns, rows) + "</section>\n";
}

std::string config_details(const RunTable& table, std::size_t i, bool open) {
  const RunRecord& run = table.runs[i];
  std::string out = fmt::format("<details{}><summary>config.toml of {}</summary>\n",
                                open ? " open" : "", escape_html(table.names[i]));
  if (!run.config_problem.empty())
    out += fmt::format("<p class=\"fine\">Not a recipe of this version: {}</p>\n",
                       escape_html(run.config_problem));
  return out + fmt::format("<pre>{}</pre></details>\n", escape_html(run.config_text));
}

/// Settings in which the groups differ, then each config in full.
std::string config_section(const RunTable& table) {
  std::string out = "<section id=\"config\">\n<h2>Settings</h2>\n";
  if (table.groups.size() > 1) {
    std::vector<std::string> keys;
    std::vector<std::map<std::string, std::string>> values;
    for (const auto& group : table.groups) {
      auto& of_group = values.emplace_back();
      for (auto& [key, value] : config_lines(table.runs[group.runs.front()].config_text)) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
        of_group.emplace(key, value);
      }
    }
    std::vector<TableColumn> columns = {{"setting", "", false, ""}};
    for (const auto& group : table.groups) columns.push_back({group.name, "", false, ""});
    std::vector<Row> rows;
    for (const auto& key : keys) {
      Row row = {"<code>" + escape_html(key) + "</code>"};
      std::set<std::string> distinct;
      for (const auto& of_group : values) {
        const auto at = of_group.find(key);
        row.push_back(at == of_group.end() ? "–" : escape_html(at->second));
        distinct.insert(row.back());
      }
      if (distinct.size() > 1 && key != "seed") rows.push_back(std::move(row));
    }
    out += rows.empty()
               ? "<p>The groups have equal settings.</p>\n"
               : "<p class=\"how\">Where the groups differ:</p>\n" + html_table(columns, rows);
  }
  for (const auto& group : table.groups) out += config_details(table, group.runs.front(), false);
  return out + "</section>\n";
}

/// Distinct values over the runs, in order of appearance.
std::string distinct(const RunTable& table, std::string RunSummary::*field) {
  std::vector<std::string> seen;
  for (const auto& run : table.runs)
    if (const auto& value = run.summary.*field;
        !value.empty() && std::find(seen.begin(), seen.end(), value) == seen.end())
      seen.push_back(value);
  return join(seen, "; ");
}

std::string environment_section(const RunTable& table) {
  std::string facts;
  const auto add = [&](std::string_view title, const std::string& value) {
    if (!value.empty()) facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", title, escape_html(value));
  };
  add("data", distinct(table, &RunSummary::data_description));
  add("SHA-256 of the data", distinct(table, &RunSummary::data_sha256));
  add("machine", distinct(table, &RunSummary::machine));
  add("Rondo", distinct(table, &RunSummary::version));
  add("libtorch", distinct(table, &RunSummary::libtorch));
  add("seeds", distinct(table, &RunSummary::seed));
  if (table.runs.size() == 1) add("config hash", table.runs.front().summary.config_hash);
  add("commands", distinct(table, &RunSummary::command));
  if (facts.empty()) return "";
  return "<section id=\"environment\">\n<h2>Where it ran</h2>\n<dl class=\"facts\">\n" + facts +
         "</dl>\n</section>\n";
}

/// Runs on other data: what they are, notes, comparison, charts.
std::string part_section(const PagePart& part) {
  std::string out = fmt::format(
      "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"how\">{}</p>\n</section>\n",
      escape_html(part.name), escape_html(part.title), escape_html(summary_of(part.table)));
  out += notes_section(part.table);
  if (part.table.runs.size() > 1) out += groups_section(part.table, "groups-" + part.name);
  for (const auto& chart : part.charts) out += chart_section(chart, below_chart(part.table, chart));
  return out;
}

}  // namespace

std::string render_page(const RunTable& table, const std::vector<Chart>& charts,
                        const PageOptions& options, const std::vector<PagePart>& parts) {
  const std::string title = options.title.empty() ? title_of(table) : options.title;
  std::string out = page_head(title, options.refresh_s);
  out += fmt::format("<body>\n<main>\n<h1>{}</h1>\n<p class=\"meta\">{}{}</p>\n",
                     escape_html(title), escape_html(options.written),
                     options.refresh_s > 0 ? " · updates itself while runs go" : "");
  out += fmt::format("<p class=\"lead\">{}</p>\n", escape_html(summary_of(table)));
  if (table.runs.size() == 1) out += figures_section(table);
  out += notes_section(table);
  if (table.runs.size() > 1) out += groups_section(table);
  for (const auto& chart : charts) out += chart_section(chart, below_chart(table, chart));
  if (table.runs.size() > 1) out += runs_section(table);
  for (const auto& part : parts) out += part_section(part);
  out += config_section(table) + environment_section(table);
  return out + page_end(!charts.empty());
}

}  // namespace rondo
