// Reading a fit and a plan, writing the page and what lies beside it.
#include "report/law_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "law/fit_record.h"
#include "report/law_charts.h"
#include "report/law_json.h"
#include "report/law_page.h"
#include "report/law_sections.h"
#include "report/page_files.h"

namespace rondo {
namespace {

Json read_plan_json(const fs::path& path) {
  if (path.empty()) return {};
  Json json;
  try {
    json = Json::parse(read_file(path));
  } catch (const Json::parse_error& error) {
    fail("{}: not JSON (byte {}); expected what `rondo plan --json` prints", path.string(),
         error.byte);
  }
  require(json_member(json, "best").is_array(),
          "{}: best: expected a list of settings, as `rondo plan --json` prints", path.string());
  return json;
}

}  // namespace

fs::path write_law_report(const fs::path& fit, const LawReportOptions& options) {
  require(options.flops >= 0 && std::isfinite(options.flops),
          "the budget is {:g} FLOPs; expected a number above 0", options.flops);
  const std::string text = read_file(fit);
  FittedLaw law = parse_fit(text, fit.string());
  const Json json = Json::parse(text);
  const Json plan = read_plan_json(options.plan);
  const LawData data = read_law_data(json, std::move(law), options.flops);
  fs::path page = page_path(options.out, fit.parent_path() / "report.html");
  if (page.has_parent_path()) create_folder(page.parent_path());
  const LawPage content{.data = data,
                        .fit = json,
                        .plan = plan,
                        .charts = law_charts(data, json),
                        .title = options.title,
                        .written = now_text(),
                        .csv = options.csv};
  write_chart_files(page, content.charts, options.csv);
  if (options.csv && plan.is_object())
    write_file_atomically(beside_page(page, "plan.csv"), to_csv(plan_settings(plan)));
  // The page comes last: whoever sees it finds the rest.
  write_file_atomically(page, render_law_page(content));
  return page;
}

}  // namespace rondo
