// A line per seed: ours drawn through, published ones dashed.
#include "report/rlt_course_chart.h"

#include <nlohmann/json.hpp>

#include "report/chart_parts.h"
#include "report/theme.h"

namespace rondo {
namespace {

void add(DataTable& data, const std::string& model, const char* whose, const std::string& seed,
         const RltCourse& course) {
  for (const auto& [step, accuracy] : course)
    data.rows.push_back({model, std::string(whose), seed, static_cast<double>(step), accuracy});
}

Json lines_of(const char* whose, const std::string& colour, const Json& dash) {
  const Json y = {{"field", "accuracy"},
                  {"type", "quantitative"},
                  {"title", "right in validation"},
                  {"axis", {{"format", ".0%"}}},
                  {"scale", {{"domain", {0.4, 1}}}}};
  return {{"transform",
           {{{"filter", "datum.model == model && datum.whose == '" + std::string(whose) + "'"}}}},
          {"mark",
           {{"type", "line"},
            {"color", colour},
            {"strokeDash", dash},
            {"point", {{"filled", true}, {"size", 24}, {"color", colour}}}}},
          {"encoding",
           {{"x", number_axis("step", "training step")},
            {"y", y},
            {"detail", {{"field", "seed"}, {"type", "nominal"}}},
            {"tooltip",
             {{{"field", "whose"}},
              {{"field", "seed"}},
              {{"field", "step"}, {"type", "quantitative"}},
              {{"field", "accuracy"}, {"type", "quantitative"}, {"format", ".1%"}}}}}}};
}

}  // namespace

std::optional<Chart> rlt_course_chart(std::span<const RltResult> results) {
  DataTable data{.columns = {"model", "whose", "seed", "step", "accuracy"}, .rows = {}};
  Json models = Json::array();
  for (const auto& result : results) {
    const auto published = rlt_published_runs(result.model);
    const auto seeds = seeds_under_way(result);
    if (result.task != "parity" || seeds.empty() || published.empty()) continue;
    models.push_back(result.model);
    for (const auto* seed : seeds) add(data, result.model, "here", seed->seed, seed->course);
    for (const auto& run : published)
      add(data, result.model, "published", std::to_string(run.seed), run.course);
  }
  if (models.empty()) return std::nullopt;
  Json spec = frame(data, 280);
  spec["params"] = {{{"name", "model"},
                     {"value", models.front()},
                     {"bind", {{"input", "select"}, {"options", models}, {"name", "model "}}}}};
  spec["layer"] = {lines_of("published", series_colour(1), {5, 4}),
                   lines_of("here", series_colour(0), {1, 0})};
  return Chart{.name = "parity-course",
               .title = "Parity over training, beside the published runs",
               .how_to_read =
                   "Share of the strings of 32, 36 and 40 bits that each seed has right; guessing "
                   "is 50 %. A seed here is another initialisation than the same seed of the "
                   "authors, so that it is the bundles of lines that can agree.",
               .spec = spec.dump(),
               .data = std::move(data),
               .legend = {{.label = "here", .colour = series_colour(0), .shape = {}},
                          {.label = "published", .colour = series_colour(1), .shape = {}}}};
}

}  // namespace rondo
