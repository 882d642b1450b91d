// Reading a diagnosis and writing its page.
#include "report/diagnosis_page.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "report/diagnosis_rows.h"
#include "report/html.h"
#include "report/law_json.h"
#include "report/page_files.h"
#include "report/page_parts.h"

namespace rondo {
namespace {

/// Rows of a chart's numbers that stand on the page; all of them are in the file beside it.
constexpr std::size_t kRowsShown = 60;

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

/// "1 + 2 × 12 + 1 layers".
std::string layers_text(const Json& diagnosis) {
  const auto& layers = json_member(diagnosis, "layers");
  if (!layers.is_object()) return "a recurrent looped transformer, whose core takes e to s";
  return fmt::format("{:g} + {:g} × {:g} + {:g} layers (prelude, core × loops, coda)",
                     json_number(layers, "prelude"), json_number(layers, "core"),
                     loops_of(diagnosis), json_number(layers, "coda"));
}

std::string lead(const Json& diagnosis) {
  std::string text = layers_text(diagnosis);
  if (json_member(diagnosis, "layers").is_object())
    text += fmt::format(", trained with {:g} loops", trained_loops_of(diagnosis));
  text += fmt::format("; {:g} positions of {:g} sequences of {} ({})",
                      json_number(diagnosis, "positions"), json_number(diagnosis, "sequences"),
                      json_text(diagnosis, "data"), json_text(diagnosis, "split"));
  if (json_number(diagnosis, "interaction_positions") > 0)
    text += fmt::format("; interaction over {:g} positions",
                        json_number(diagnosis, "interaction_positions"));
  if (json_number(diagnosis, "jacobians") > 0)
    text += fmt::format("; spectral radius at {:g} positions", json_number(diagnosis, "jacobians"));
  return text + fmt::format("; {}.", json_text(diagnosis, "precision"));
}

/// The main numbers after the first loop, after the trained ones and at the end.
std::string summary_table(const Json& diagnosis) {
  const std::vector<LoopSeries> series = {
      loop_series(diagnosis, "update", "loop", "relative update"),
      loop_series(diagnosis, "angle", "loop", "angle / π"),
      loop_series(diagnosis, "variance", "state", "variance"),
      loop_series(diagnosis, "spectral_radius", "loop", "spectral radius"),
      loop_series(diagnosis, "gradient_flow", "state", "gradient by the state"),
      loop_series(diagnosis, "logit_lens", "loss_nats", "loss, nats"),
      loop_series(diagnosis, "logit_lens", "agreement", "agreement")};
  std::vector<TableColumn> columns = {{"loop", "", true, ""}};
  for (const auto& one : series) columns.push_back({one.name, "", true, ""});
  std::vector<std::vector<std::string>> rows;
  for (const double loop :
       std::set<double>{0, 1, trained_loops_of(diagnosis), loops_of(diagnosis)}) {
    if (loop > loops_of(diagnosis)) continue;
    std::vector<std::string> row = {fmt::format("{:g}", loop)};
    for (const auto& one : series) row.push_back(number_text(value_at(one, loop)));
    rows.push_back(std::move(row));
  }
  drop_empty_columns(columns, rows);
  return "<section id=\"summary\">\n<h2>In numbers</h2>\n<p class=\"how\">Before the first loop, "
         "after it, where the trained loops end, and at the end of the pass.</p>\n" +
         html_table(columns, rows) + "</section>\n";
}

/// Where the page goes. Other endings are refused: --out of other commands names other things, and
/// nobody's weights shall be written over.
fs::path checked_page(const fs::path& out) {
  const auto page = page_path(out, out);
  require(page.extension() == ".html", "--out {}: expected a file *.html, or a folder",
          out.string());
  return page;
}

}  // namespace

std::vector<Chart> diagnosis_charts(const Json& diagnosis) {
  auto charts = diagnosis_curves(diagnosis);
  for (auto& chart : diagnosis_matrices(diagnosis)) charts.push_back(std::move(chart));
  return charts;
}

std::string render_diagnosis_page(const Json& diagnosis, const std::vector<Chart>& charts,
                                  const std::string& written) {
  const auto title = "Probes of " + json_text(diagnosis, "model");
  std::string out = page_head(title, 0);
  out += fmt::format(
      "<body>\n<main>\n<h1>{}</h1>\n<p class=\"meta\">{}</p>\n<p class=\"lead\">{}</p>\n",
      escape_html(title), escape_html(written), escape_html(lead(diagnosis)));
  out += notes_aside("Notes", json_texts(diagnosis, "notes"));
  out += summary_table(diagnosis);
  for (const auto& chart : charts)
    out += chart_section(chart, data_details("Numbers", chart.data, kRowsShown,
                                             "all are in the CSV file beside this page"));
  return out + page_end(!charts.empty());
}

fs::path write_diagnosis_page(const Json& diagnosis, const fs::path& out) {
  const auto page = checked_page(out);
  if (page.has_parent_path()) create_folder(page.parent_path());
  const auto charts = diagnosis_charts(diagnosis);
  write_chart_files(page, charts, true);
  write_file_atomically(beside_page(page, "diagnosis.json"), diagnosis.dump(1) + "\n");
  // The page comes last: whoever sees it finds the rest.
  write_file_atomically(page, render_diagnosis_page(diagnosis, charts, now_text()));
  return page;
}

bool is_diagnosis(const Json& json) {
  const auto& rows = json_member(json, "rows");
  return json_member(json, "trained_loops").is_number() && rows.is_array() &&
         json_member(json, "probes").is_array();
}

Json read_diagnosis(const fs::path& path) {
  Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  require(!json.is_discarded() && is_diagnosis(json),
          "{}: expected what `rondo diagnose --json` prints", path.string());
  return json;
}

}  // namespace rondo
