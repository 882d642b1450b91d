// The page of `rondo reproduce rlt`.
#include "report/rlt_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "report/charts.h"
#include "report/claims.h"
#include "report/html.h"
#include "report/page_parts.h"
#include "report/rlt_course_chart.h"
#include "report/words.h"

namespace rondo {
namespace {

using Row = std::vector<std::string>;

std::string spread(double mean, const std::optional<double>& sd) {
  return sd ? fmt::format("{:.2f} ± {:.2f}", mean, *sd) : fmt::format("{:.2f}", mean);
}

/// At which length a cell of the paper was measured here, if it was.
std::optional<std::int64_t> length_here(const RltCell& cell, std::span<const RltResult> results) {
  for (const auto& result : results) {
    if (result.task != cell.task) continue;
    if (const auto at = result.lengths.find(cell.length); at != result.lengths.end())
      return at->second;
  }
  return std::nullopt;
}

/// "parity 256 (here 64)", "validation" left out.
std::string column_of(const RltCell& cell, std::span<const RltResult> results) {
  std::string text = cell.task;
  if (cell.length > 0) text += fmt::format(" {}", cell.length);
  if (cell.step > 0) text += fmt::format(", step {}", cell.step);
  const auto here = length_here(cell, results);
  if (here && *here != cell.length) text += fmt::format(" (here {})", *here);
  if (cell.metric == "accuracy_prefix") text += ", every product";
  return text;
}

/// What a guess and the most frequent answer get, "" where no run says so. Validation is at short
/// lengths of its own, of which the shortest test is the nearest.
std::string guess_text(const RltCell& cell, std::span<const RltResult> results) {
  for (const auto& result : results) {
    if (result.task != cell.task) continue;
    for (const auto& [key, rates] : result.rates)
      if (key.first == cell.metric && (cell.length == 0 || key.second == cell.length))
        return fmt::format("{:.2f}, {:.2f}", 100 * rates.first, 100 * rates.second);
  }
  return "";
}

/// A table as the paper prints it: models by tasks, in each cell the paper's number above ours.
std::string paper_table(const RltTable& table, std::span<const RltResult> results) {
  std::vector<std::string> columns, models;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  std::map<std::string, std::string> guesses;
  const auto add_once = [](std::vector<std::string>& list, const std::string& word) {
    if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
  };
  for (const auto& cell : table.cells) {
    add_once(columns, column_of(cell, results));
    add_once(models, cell.model);
    guesses[column_of(cell, results)] = guess_text(cell, results);
    const auto ours = measured(results, cell);
    cells[{cell.model, column_of(cell, results)}] =
        fmt::format("<span class=\"fine\">{}</span><br>{}", spread(cell.mean, cell.sd),
                    ours ? "<b>" + spread(ours->mean, ours->sd) + "</b>" : std::string("–"));
  }
  std::vector<TableColumn> head = {{"model", "", false, ""}};
  for (const auto& name : columns) head.push_back({name, "", true, "%"});
  std::vector<Row> rows;
  for (const auto& model : models) {
    Row row = {escape_html(model)};
    for (const auto& name : columns) {
      const auto at = cells.find({model, name});
      row.push_back(at == cells.end() ? "" : at->second);
    }
    rows.push_back(std::move(row));
  }
  Row guess = {"<span class=\"fine\">guessing, most frequent answer</span>"};
  for (const auto& name : columns)
    guess.push_back("<span class=\"fine\">" + guesses[name] + "</span>");
  rows.push_back(std::move(guess));
  return html_table(head, rows);
}

/// A data table as HTML.
std::string html_of(const DataTable& data) {
  std::vector<TableColumn> head;
  for (const auto& column : data.columns) head.push_back({column, "", false, ""});
  std::vector<Row> rows;
  for (const auto& line : data.rows) {
    Row row;
    for (const auto& cell : line) {
      const auto* number = std::get_if<double>(&cell);
      row.push_back(number == nullptr     ? escape_html(std::get<std::string>(cell))
                    : std::isnan(*number) ? std::string()
                                          : fmt::format("{:g}", *number));
    }
    rows.push_back(std::move(row));
  }
  return html_table(head, rows);
}

/// Accuracy over length, a chart per task.
std::vector<Chart> curves(const RunTable& runs) {
  std::map<std::string, std::vector<RunRecord>> by_task;
  for (const auto& run : runs.runs)
    if (run.config) by_task[run.config->data.task].push_back(run);
  std::vector<Chart> charts;
  for (auto& [task, list] : by_task) {
    auto chart = length_chart(make_run_table(std::move(list)));
    if (!chart) continue;
    chart->name = "length-" + task;
    chart->title = "Accuracy over length: " + task;
    charts.push_back(std::move(*chart));
  }
  return charts;
}

}  // namespace

DataTable rlt_table_data(const RltTable& table, std::span<const RltResult> results) {
  DataTable data;
  data.columns = {"task",       "model",    "metric", "length", "length_here", "step",
                  "paper_mean", "paper_sd", "mean",   "sd",     "seeds"};
  for (const auto& cell : table.cells) {
    const auto ours = measured(results, cell);
    const auto here = length_here(cell, results);
    data.rows.push_back({cell.task, cell.model, cell.metric,
                         cell.length == 0 ? Cell(std::string("validation"))
                                          : Cell(static_cast<double>(cell.length)),
                         here ? Cell(static_cast<double>(*here)) : Cell(std::nan("")),
                         cell.step > 0 ? Cell(static_cast<double>(cell.step)) : Cell(std::nan("")),
                         cell.mean, cell_of(cell.sd), ours ? Cell(ours->mean) : Cell(std::nan("")),
                         ours ? cell_of(ours->sd) : Cell(std::nan("")),
                         ours ? static_cast<double>(ours->seeds) : 0.0});
  }
  return data;
}

DataTable rlt_course_data(std::span<const RltResult> results) {
  DataTable data;
  data.columns = {"task",   "model",         "seeds",        "solved_by_step",     "unsolved",
                  "failed", "selected_step", "paper_solved", "paper_selected_step"};
  for (const auto& result : results) {
    std::vector<std::string> seeds, solved, selected;
    double unsolved = 0;
    for (const auto& seed : result.seeds) {
      seeds.push_back(seed.seed);
      const auto step = solved_by(seed.course);
      solved.push_back(step ? std::to_string(*step) : "–");
      selected.push_back(std::to_string(seed.selected));
      unsolved += step ? 0 : 1;
    }
    // What has not come to its end may yet be solved, and no checkpoint has been selected.
    for (const auto& seed : result.unfinished) {
      seeds.push_back(seed.seed);
      const auto step = solved_by(seed.course);
      solved.push_back(step ? std::to_string(*step)
                            : fmt::format("> {}", seed.course.rbegin()->first));
      selected.emplace_back("–");
    }
    // Courses are published of parity only.
    const auto published = result.task == "parity" ? result.model : std::string();
    data.rows.push_back({result.task, result.model, join(seeds, " / "), join(solved, " / "),
                         unsolved, static_cast<double>(result.failed), join(selected, " / "),
                         rlt_published_solved(published), rlt_published_selected(published)});
  }
  return data;
}

std::string render_rlt_page(const RltPage& page) {
  const auto title = fmt::format("The recurrent looped transformer again, {} scale", page.scale);
  std::string out = page_head(title, 0);
  out += fmt::format("<body>\n<main>\n<h1>{}</h1>\n<p class=\"meta\">{}</p>\n", escape_html(title),
                     escape_html(page.written));
  const auto count = count_claims(page.claims);
  std::size_t unfinished = 0;
  for (const auto& result : page.results) unfinished += result.unfinished.size();
  out += fmt::format(
      "<p class=\"lead\">The experiments of arXiv 2610.07591: {}. {} claims, of which {} can be "
      "tested at this scale and {} came out as published; {} runs{}.</p>\n",
      escape_html(page.summary), page.claims.size(), count.testable, count.reproduced,
      page.runs.runs.size(),
      unfinished == 0 ? "" : fmt::format(", and {} that have not come to their end", unfinished));
  out += claims_section(page.claims, "Numbers are means in per cent, lengths the paper's.");
  for (const auto& table : page.tables)
    out += fmt::format(
               "<section id=\"{0}\">\n<h2>{1}</h2>\n<p class=\"how\">In each cell the paper's "
               "mean ± sample standard deviation, below it ours in bold; – where nothing was "
               "run.</p>\n",
               escape_html(table.name), escape_html(table.title)) +
           paper_table(table, page.results) + "</section>\n";
  auto charts = curves(page.runs);
  if (rlt_scale(page.scale).layers == kRltPublishedLayers)
    if (auto course = rlt_course_chart(page.results)) charts.push_back(std::move(*course));
  for (const auto& chart : charts) out += chart_section(chart, "");
  out +=
      "<section id=\"course\">\n<h2>When each seed had learned its task</h2>\n<p "
      "class=\"how\">First validation with 99 % right or more, – for never, &gt; N for not by step "
      "N, as far as the run has come; the step whose checkpoint was selected. Beside them the "
      "published ones, of 2000 steps.</p>\n" +
      html_of(rlt_course_data(page.results)) + "</section>\n";
  return out + page_end(!charts.empty());
}

}  // namespace rondo
