// The page of a law, section by section.
#include "report/law_page.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/html.h"
#include "report/law_sections.h"
#include "report/page_parts.h"

namespace rondo {
namespace {

/// Rows of a chart's numbers that the page itself shows.
constexpr std::size_t kShownRows = 200;

std::string numbers_of(const Chart& chart, bool csv) {
  return data_details("The numbers", chart.whole.rows.empty() ? chart.data : chart.whole,
                      kShownRows,
                      csv ? "all are in the CSV file beside this page" : "--csv writes them all");
}

}  // namespace

std::string render_law_page(const LawPage& page) {
  const std::string title =
      page.title.empty() ? fmt::format("Scaling law: {}", page.data.law.form.name) : page.title;
  std::string out = page_head(title, 0);
  const fs::path source = page.data.law.path;
  out += fmt::format("<body>\n<main>\n<h1>{}</h1>\n<p class=\"meta\">{} · from {}</p>\n",
                     escape_html(title), escape_html(page.written),
                     escape_html(source.filename().string()));
  out += fmt::format("<p class=\"lead\">{}</p>\n", escape_html(law_summary(page.data, page.fit)));
  out += law_figures(page.fit);
  out += notes_aside("Before you rely on this", law_warnings(page.data, page.fit));
  out += law_formula_section(page.data, page.fit);
  for (const auto& chart : page.charts) out += chart_section(chart, numbers_of(chart, page.csv));
  out += law_isoflop_section(page.fit) + law_comparison_section(page.fit);
  out += law_plan_section(page.plan) + law_search_section(page.data, page.fit);
  return out + page_end(!page.charts.empty());
}

}  // namespace rondo
