// IsoFLOP runs of five sources, collected and cleaned by Open-Athena/scaling-law-analysis
// (3e0656e): approach 2 and approach 3 for every experiment.
#include <cmath>

#include "base/error.h"
#include "law/catalogue.h"
#include "plan/published_study.h"

namespace rondo {
namespace {

const double kNone = std::nan("");

/// What is known of an experiment; tokens exponents are of D* ~ C^b.
struct Experiment {
  const char* name;
  double size_exponent, tokens_exponent, tolerance;
  const char* source;
};

// Hoffmann et al. 2022, table 2, approach 2: a 0.49, b 0.51. Meta, "The Llama 3 Herd of Models"
// (arXiv 2407.21783), section 3.2.1: D* ~ C^0.53 (0.537 by its 16.55 T tokens at 3.8e25 FLOPs). The
// other sources print no exponents of these runs.
const Experiment kExperiments[] = {
    {"epochai_chinchilla__massivetext__chinchilla", 0.49, 0.51, 0.02, "Hoffmann, approach 2"},
    {"ml_scalefit__massivetext__chinchilla", 0.49, 0.51, 0.02, "Hoffmann, approach 2"},
    {"llama_3__raw_loss", kNone, 0.53, 0.02, "Meta, D* = 0.29 C^0.53"},
    {"llama_3__exp_loss", kNone, 0.53, 0.02, "Meta, on exp(loss): not what they fitted"},
    {"marin_202603__comma__llama_2", kNone, kNone, kNone, ""},
    {"marin_202603__dclm__llama_2", kNone, kNone, kNone, ""},
    {"marin_202603__nemotron__llama_2", kNone, kNone, kNone, ""},
    {"misfitting__fineweb_c4__transformer", kNone, kNone, kNone, ""}};

// Open-Athena's own fits of all 133 rows of llama_3__raw_loss, outliers included:
// results/experiments/ exp11/compute_allocation_errors.txt. Tolerance: 1e-2.
constexpr Known kLlamaParabola[] = {{"N* exponent", 0.4632, 0.01}, {"D* exponent", 0.5368, 0.01}};
// "Approach 3": least squares of log loss.
constexpr Known kLlamaSurface[] = {{"E", 0.6021, 0.006},
                                   {"A", 56.2, 0.56},
                                   {"alpha", 0.3068, 0.01},
                                   {"B", 147.3, 1.5},
                                   {"beta", 0.3110, 0.01}};
FitTable rows_of(const FitTable& all, const std::string& name, bool outliers) {
  const auto condition =
      fmt::format("experiment == '{}'{}", name, outliers ? "" : " and outlier == 'False'");
  return all.select(split_rows(all, condition).holds);
}

void compare_or_found(Study& study, const char* parameter, double published, double tolerance,
                      double value, Interval interval, const std::string& note) {
  if (std::isnan(published)) return study.found(parameter, value, interval, note);
  study.compare({parameter, published, tolerance}, value, interval, note);
}

void approach_2(Study& study, const FitTable& table, const Experiment& experiment,
                const std::string& name) {
  const auto frontier = isoflop_frontier(
      table, {.bootstrap = study.options().bootstrap, .seed = study.options().seed});
  if (frontier.cells.empty() || !frontier.cells[0].best) return;
  const auto& cell = frontier.cells[0];
  study.about(name + ", parabolas", table.rows());
  const auto note =
      fmt::format("{} budgets{}{}{}", cell.curves.size() - cell.left_out,
                  cell.left_out > 0 ? fmt::format(", {} left out", cell.left_out) : "",
                  *experiment.source ? "; " : "", experiment.source);
  compare_or_found(study, "N* exponent", experiment.size_exponent, experiment.tolerance,
                   cell.best->exponent, cell.best->interval, note);
  compare_or_found(study, "D* exponent", experiment.tokens_exponent, experiment.tolerance,
                   cell.tokens->exponent, cell.tokens->interval, note);
}

void approach_3(Study& study, const FitTable& table, const std::string& name) {
  const auto fit =
      study.fit(find_law("chinchilla"), table, study.fit_options(study.options().bootstrap));
  study.about(name + ", chinchilla", table.rows());
  for (const char* parameter : {"E", "A", "alpha", "B", "beta"}) {
    const auto at = fit.form.parameter(parameter);
    study.found(parameter, fit.identified[at] ? fit.parameters[at] : kNone, fit.intervals[at]);
  }
  const auto size = size_exponent(fit);
  study.found("N* exponent", size.value, size.interval, "beta / (alpha + beta)");
  study.found("RMSE", fit.fitted.rmse_nats);
}

/// Llama 3 as Open-Athena fits it.
void llama_as_they_do(Study& study, const FitTable& all) {
  const auto table = rows_of(all, "llama_3__raw_loss", true);
  const auto frontier = isoflop_frontier(table, {.bootstrap = 0});
  study.about("llama_3__raw_loss, parabolas, all rows", table.rows());
  const auto& cell = frontier.cells.at(0);
  const auto note = fmt::format("their exp11; {} of {} budgets", cell.curves.size() - cell.left_out,
                                cell.curves.size());
  study.compare(kLlamaParabola[0], cell.best->exponent, {}, note);
  study.compare(kLlamaParabola[1], cell.tokens->exponent, {}, note);
  study.compare({"D* exponent", 0.53, 0.02}, cell.tokens->exponent, {},
                "Meta, D* = 0.29 C^0.53: the outlier flags take out 3e21 and 1e22");

  auto options = study.fit_options(0);
  options.delta = kLeastSquares;
  const auto fit = study.fit(find_law("chinchilla"), table, options);
  study.about("llama_3__raw_loss, chinchilla, all rows", table.rows());
  for (const auto& known : kLlamaSurface)
    study.compare(known, value_of(fit, known.parameter), {},
                  "their exp11, approach 3: least squares of log loss");
}

}  // namespace

void study_isoflop_sources(Study& study) {
  const auto all = study.read("scaling_laws/isoflops_open_athena_combined.csv");
  for (const auto& experiment : kExperiments) {
    const auto table = rows_of(all, experiment.name, false);
    if (table.rows() == 0) continue;
    const std::string name = experiment.name;
    approach_2(study, table, experiment, name);
    if (!std::isnan(experiment.size_exponent))
      approach_2(study, rows_of(all, name, true), experiment, name + ", outliers too");
    approach_3(study, table, name);
    if (name == "llama_3__raw_loss") llama_as_they_do(study, all);
  }
}

}  // namespace rondo
