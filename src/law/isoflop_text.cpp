// The frontier as JSON and as text.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "law/fit_record.h"
#include "law/isoflop.h"

namespace rondo {
namespace {

Json ends_json(const Interval& interval) {
  return interval ? Json{interval->first, interval->second} : Json();
}

Json power_law_json(const std::optional<PowerLaw>& law) {
  if (!law) return {};
  return {{"exponent", law->exponent},
          {"interval", ends_json(law->interval)},
          {"coefficient", law->coefficient}};
}

std::string rounded(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

std::string interval_text(const Interval& interval) {
  return interval ? fmt::format("{} … {}", rounded(interval->first), rounded(interval->second))
                  : "–";
}

std::string exponent_text(const std::string& what, const PowerLaw& law) {
  auto text = fmt::format("{}* ~ C^{:.3f}", what, law.exponent);
  if (law.interval)
    text += fmt::format(" ({:.3f} … {:.3f})", law.interval->first, law.interval->second);
  return text;
}

std::string cell_line(const IsoFlopCell& cell) {
  const auto used = cell.curves.size() - cell.left_out;
  auto text = cell.name() + ": ";
  if (cell.best) {
    text += fmt::format("{}, {}; from {} budgets", exponent_text(cell.varied, *cell.best),
                        exponent_text("tokens", *cell.tokens), used);
    if (used == 2) text += ", which is a line through two points";
  } else {
    text += fmt::format("{} budget{} with a lowest point; an exponent takes two", used,
                        used == 1 ? "" : "s");
  }
  if (cell.left_out > 0) text += fmt::format(", {} left out", cell.left_out);
  return text + "\n";
}

}  // namespace

Json to_json(const IsoFlop& isoflop) {
  Json cells = Json::array();
  for (const auto& cell : isoflop.cells) {
    Json curves = Json::array();
    for (const auto& curve : cell.curves)
      curves.push_back({{"budget", curve.budget},
                        {"rows", curve.rows},
                        {"best", finite_or_null(curve.best)},
                        {"interval", ends_json(curve.best_interval)},
                        {"tokens", finite_or_null(curve.tokens)},
                        {"loss_nats", finite_or_null(curve.loss)},
                        {"curvature", finite_or_null(curve.curvature)},
                        {"lowest", curve.low},
                        {"highest", curve.high},
                        {"left_out", curve.problem.empty() ? Json() : Json(curve.problem)}});
    cells.push_back({{"varied", cell.varied},
                     {"loops", finite_or_null(cell.loops)},
                     {"backward_loops", finite_or_null(cell.backward_loops)},
                     {"n_total", finite_or_null(cell.n_total)},
                     {"backward_share", cell.backward_share},
                     {"curves", curves},
                     {"left_out", cell.left_out},
                     {"best", power_law_json(cell.best)},
                     {"tokens", power_law_json(cell.tokens)},
                     {"refits", cell.refits}});
  }
  return {{"budgets", isoflop.budgets},
          {"bootstrap", isoflop.bootstrap},
          {"cells", cells},
          {"cells_without_curve", isoflop.cells_without_curve}};
}

std::string to_text(const IsoFlop& isoflop) {
  if (isoflop.cells.empty())
    return fmt::format(
        "isoflop: no budget (by {}) has runs of three sizes or loop counts that are equal "
        "otherwise\n",
        isoflop.budgets);
  TextTable table({"cell", "over", "budget", "runs", "best", "95 %", "tokens", "loss", "left out"});
  std::string lines;
  for (const auto& cell : isoflop.cells) {
    for (const auto& curve : cell.curves)
      table.add({cell.name(), cell.varied, rounded(curve.budget), std::to_string(curve.rows),
                 rounded(curve.best), interval_text(curve.best_interval), rounded(curve.tokens),
                 rounded(curve.loss), curve.problem});
    lines += cell_line(cell);
  }
  auto text = fmt::format(
      "isoflop: lowest points of loss over ln size or ln loops, budgets by {}\n", isoflop.budgets);
  text += table.aligned() + lines;
  if (isoflop.cells_without_curve > 0)
    text += fmt::format("{} pair{} (loops, backward_loops) without three sizes at one budget\n",
                        isoflop.cells_without_curve, isoflop.cells_without_curve == 1 ? "" : "s");
  return text;
}

}  // namespace rondo
