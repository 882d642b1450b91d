// HTML that is the same on all pages.
#include "report/page_parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "report/html.h"
#include "report/page_style.h"
#include "report/vega_bundle.h"

namespace rondo {
namespace {

std::string cell_html(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return escape_html(*text);
  const double number = std::get<double>(cell);
  return std::isfinite(number) ? fmt::format("{:.6g}", number) : "";
}

}  // namespace

std::string page_head(const std::string& title, int refresh_s) {
  // The policy makes the promise enforceable: the page can load nothing.
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"rondo report\">\n<title>{}</title>\n",
      escape_html(title));
  if (refresh_s > 0)
    out += fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", refresh_s);
  return out + "<style>" + page_style() + "</style>\n</head>\n";
}

std::string page_end(bool with_charts) {
  std::string out =
      "<footer class=\"fine\">Made by <code>rondo report</code>. Nothing on this page is loaded "
      "from a network.</footer>\n</main>\n";
  if (with_charts)
    out.append("<script>")
        .append(vega_bundle())
        .append("</script>\n<script>")
        .append(page_script())
        .append("</script>\n");
  return out + "</body>\n</html>\n";
}

std::string legend_mark(const std::string& colour, std::string_view path) {
  // A line stands for a curve without marks.
  const std::string_view shape = path.empty() ? "M0 4.8h12v2.4h-12z" : path;
  return fmt::format(
      "<svg class=\"mark\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path fill=\"{}\" "
      "d=\"{}\"/></svg>",
      colour, shape);
}

std::string notes_aside(std::string_view title, std::span<const std::string> notes) {
  if (notes.empty()) return "";
  std::string out = fmt::format("<aside class=\"notes\">\n<h2>{}</h2>\n<ul>\n", escape_html(title));
  for (const auto& note : notes) out += fmt::format("<li>{}</li>\n", escape_html(note));
  return out + "</ul>\n</aside>\n";
}

std::string chart_section(const Chart& chart, const std::string& after) {
  std::string legend;
  for (const auto& entry : chart.legend) {
    const std::string inside = legend_mark(entry.colour, entry.shape) + escape_html(entry.label);
    legend += chart.can_focus ? fmt::format(
                                    "<li><button type=\"button\" aria-pressed=\"false\" "
                                    "data-group=\"{}\">{}</button></li>",
                                    escape_html(entry.label), inside)
                              : fmt::format("<li><span>{}</span></li>", inside);
  }
  return fmt::format(
             "<section id=\"{0}\" class=\"whole\">\n<h2>{1}</h2>\n<p class=\"how\">{2}</p>\n"
             "<figure data-chart=\"{0}\">\n<div class=\"bar\"><ul class=\"legend\">{3}</ul>"
             "<div class=\"controls\" id=\"{0}-controls\"></div></div>\n"
             "<div class=\"chart\" role=\"img\" aria-label=\"{1}\"><noscript>This chart needs "
             "JavaScript.</noscript></div>\n"
             "<script type=\"application/json\">{4}</script>\n</figure>\n",
             escape_html(chart.name), escape_html(chart.title), escape_html(chart.how_to_read),
             legend, json_for_script(chart.spec)) +
         after + "</section>\n";
}

std::string data_details(std::string_view summary, const DataTable& data, std::size_t most_rows,
                         std::string_view more) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < data.columns.size(); ++i) {
    const bool number = !data.rows.empty() && std::holds_alternative<double>(data.rows[0][i]);
    columns.push_back({data.columns[i], "", number, ""});
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(most_rows, data.rows.size()); ++i) {
    auto& row = rows.emplace_back();
    for (const auto& cell : data.rows[i]) row.push_back(cell_html(cell));
  }
  std::string out = fmt::format("<details><summary>{}</summary>\n", escape_html(summary)) +
                    html_table(columns, rows);
  if (data.rows.size() > most_rows)
    out += fmt::format("<p class=\"fine\">The first {} of {} rows; {}.</p>\n", most_rows,
                       data.rows.size(), escape_html(more));
  return out + "</details>\n";
}

}  // namespace rondo
