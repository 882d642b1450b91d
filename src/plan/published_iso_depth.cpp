// Schwethelm et al. 2026, "How Much Is One Recurrence Worth?" (arXiv 2604.21106): 20 effective
// layers at r = 1, 2, 4, 8 loops, the runs of a figure and the lowest points of their parabolas.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "cost/flops.h"
#include "law/catalogue.h"
#include "plan/curve.h"
#include "plan/published_study.h"

namespace rondo {
namespace {

constexpr const char* kFolder = "looped_results/isodepth_schwethelm/";

// Table 2 of the paper; A and B, which it does not print, are the constant FIT of its page. The
// points are read off a figure to ±0.002 nats and miss those near the minima, hence tolerances of
// about three times what that does to a refit.
constexpr Known kJoint[] = {
    {"phi", 0.459, 0.03}, {"alpha", 0.199, 0.03}, {"beta", 0.369, 0.05}, {"E", 1.57, 0.1}};
constexpr Known kNoWorth[] = {{"alpha", 0.227, 0.03}, {"beta", 0.390, 0.05}, {"E", 1.71, 0.1}};
constexpr Known kFullWorth[] = {{"alpha", 0.218, 0.03}, {"beta", 0.410, 0.05}, {"E", 1.66, 0.1}};
// In the order of the parameters: E, A, alpha, B, beta, phi.
const std::vector<double> kPublished = {1.56773, 28.027, 0.19924, 915.82, 0.36863, 0.459};
/// The separate fits by loop count, N being all parameters, and the exponent of D* that the paper
/// takes from each.
struct Separate {
  int r;
  double A, alpha, B, beta, E, tokens_exponent;
};
constexpr std::array<Separate, 4> kSeparate = {{{1, 58, 0.251, 150, 0.267, 1.56, 0.53},
                                                {2, 33, 0.216, 910, 0.365, 1.60, 0.42},
                                                {4, 23, 0.191, 1300, 0.388, 1.56, 0.37},
                                                {8, 41, 0.235, 780, 0.362, 1.69, 0.44}}};

/// Sizes and FLOPs per token between the widths of the sweep, straight lines over ln N_total.
class Widths {
 public:
  explicit Widths(const Study& study) {
    const auto table = study.read_raw(std::string(kFolder) + "width_tables.csv");
    const auto r = numbers_of(table, "r"), total = numbers_of(table, "log_N_total");
    const auto once = numbers_of(table, "log_N_once"), block = numbers_of(table, "log_n_block");
    const auto flops = numbers_of(table, "log_F_per_token");
    for (std::size_t i = 0; i < r.size(); ++i)
      rows_[static_cast<int>(r[i])].push_back({total[i], once[i], block[i], flops[i]});
  }

  /// The lowest point of a parabola as a run.
  [[nodiscard]] MadeRow at(int r, double n_total, double budget, double loss) const {
    require(rows_.contains(r), "width_tables.csv: no rows of r = {}; expected some", r);
    const auto& rows = rows_.at(r);
    const double x = std::log(n_total);
    const auto above =
        std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row[0] > x; });
    require(above != rows.begin() && above != rows.end(),
            "width_tables.csv: no width of r = {} on both sides of {:.4g} parameters", r, n_total);
    const auto low = *(above - 1), high = *above;
    const double part = (x - low[0]) / (high[0] - low[0]);
    const auto between = [&](std::size_t i) {
      return std::exp(low[i] + part * (high[i] - low[i]));
    };
    const double loops = r;
    return {between(1), 16 / loops * between(2), loops, loops, budget / between(3), loss, budget};
  }

  /// ln N_total of the narrowest and the widest.
  [[nodiscard]] Span range(int r) const {
    return {rows_.at(r).front()[0] + 1e-9, rows_.at(r).back()[0] - 1e-9};
  }

 private:
  std::map<int, std::vector<std::array<double, 4>>> rows_;
};

std::vector<MadeRow> points_of(const Study& study) {
  const auto table = study.read(std::string(kFolder) + "isoflop_points_digitised.csv",
                                {.columns = {{"backward_loops", "loops"}}});
  std::vector<MadeRow> rows;
  for (std::size_t i = 0; i < table.rows(); ++i)
    rows.push_back({table.numbers("n_once")[i], table.numbers("n_rec")[i],
                    table.numbers("loops")[i], table.numbers("backward_loops")[i],
                    table.numbers("tokens")[i], table.numbers("loss")[i],
                    table.numbers("C_flops")[i]});
  return rows;
}

std::vector<MadeRow> minima_of(const Study& study) {
  const Widths widths(study);
  const auto table = study.read_raw(std::string(kFolder) + "empirical_isoflop_minima.csv");
  const auto r = numbers_of(table, "r"), budget = numbers_of(table, "C_flops");
  const auto loss = numbers_of(table, "L_min"), size = numbers_of(table, "N_opt");
  std::vector<MadeRow> rows;
  for (std::size_t i = 0; i < r.size(); ++i)
    rows.push_back(widths.at(static_cast<int>(r[i]), size[i], budget[i], loss[i]));
  return rows;
}

const std::vector<double> kBudgets = {4.64e17, 1e18, 2.15e18, 4.64e18, 1e19, 2.15e19};

/// Growth of the best tokens over the sweep's budgets where a token costs what it cost there.
double tokens_exponent(const LawForm& form, const std::vector<double>& parameters,
                       const Widths& widths, int r) {
  const LawFunction law(form, parameters);
  std::vector<double> x, y;
  for (const double budget : kBudgets) {
    const auto run = [&](double log_n) { return widths.at(r, std::exp(log_n), budget, 0); };
    const auto loss = [&](double log_n) {
      const auto row = run(log_n);
      return law({.n_once = row.n_once, .n_rec = row.n_rec, .tokens = row.tokens});
    };
    x.push_back(std::log(budget));
    y.push_back(std::log(run(lowest_point(loss, widths.range(r), 200).x).tokens));
  }
  return slope_of(x, y);
}

void compare_quality(Study& study, const FitResult& fit, double r2) {
  study.compare({"R²", r2, 0.002}, fit.fitted.r2, {}, "on nats");
}

void joint_law(Study& study, const FitTable& table, const std::string& what) {
  const auto form = find_law("iso-depth");
  const auto fit =
      study.fit(form, table, study.fit_options(study.options().bootstrap, {"budget", "loops"}));
  study.compare(fit, kJoint, what);
  compare_quality(study, fit, 0.9972);
  study.compare({"RMSE", 0.010, 0.003}, fit.fitted.rmse_nats, {}, "published to three digits");
  study.found("objective", fit.objective);
  study.found("objective at the published constants", objective_at(form, table, kPublished));
}

/// Each law without one loop count after the other, and without r = 8 from the start.
void compare_laws(Study& study, const FitTable& table) {
  for (const char* name : {"iso-depth", "bounded", "chinchilla", "parcae"}) {
    const auto fit = study.fit(find_law(name), table,
                               study.fit_options(study.options().bootstrap, {"budget", "loops"}));
    auto options = study.fit_options(0);
    if (fit.form.name == "chinchilla") {
      study.compare(fit, kNoWorth, "the law with phi = 0");
      compare_quality(study, fit, 0.9858);
    } else if (fit.form.name == "parcae") {
      study.compare(fit, kFullWorth, "the law with phi = 1");
      compare_quality(study, fit, 0.9552);
      auto held = fit.form;
      for (const auto& known : kFullWorth) fix_parameters(held, {{known.parameter, known.value}});
      const double there = study.fit(held, table, study.fit_options(0)).objective;
      study.found("objective with alpha, beta, E held as published", there, {},
                  fmt::format("{:.3f} times the best", there / fit.objective));
    }
    study.about(fit);
    study.found("RMSE", fit.fitted.rmse_nats);
    study.found("AIC", fit.aic);
    options.bootstrap_starts = 10;
    study.found("RMSE left out, one loop count after the other",
                leave_one_cell_out(fit, {"loops"}, options).all.rmse_nats);
    options.holdout = "loops == 8";
    study.found("RMSE of r = 8, held out", study.fit(fit.form, table, options).holdout->rmse_nats);
  }
}

/// The separate law of one loop count.
void separate_law(Study& study, const Separate& published, const Widths& widths,
                  const FitTable& table) {
  const int r = published.r;
  const auto form = find_law("chinchilla");
  const auto rows = table.select(split_rows(table, fmt::format("loops == {}", r)).holds);
  const auto fit = study.fit(form, rows, study.fit_options(study.options().bootstrap));
  study.about(fmt::format("chinchilla, r = {}", r), rows.rows());
  const Known known[] = {
      {"alpha", published.alpha, 0.05}, {"beta", published.beta, 0.05}, {"E", published.E, 0.1}};
  for (const auto& one : known)
    study.compare(one, value_of(fit, one.parameter), fit.intervals[form.parameter(one.parameter)],
                  "points and minima");
  const auto exponent = derived(
      fit, [&](const auto& parameters) { return tokens_exponent(form, parameters, widths, r); });
  study.compare({"D* exponent", published.tokens_exponent, 0.05}, exponent.value, exponent.interval,
                "at the sweep's cost per token");
  std::vector<double> theirs(form.parameters.size());
  theirs[form.parameter("E")] = published.E;
  theirs[form.parameter("A")] = published.A;
  theirs[form.parameter("alpha")] = published.alpha;
  theirs[form.parameter("B")] = published.B;
  theirs[form.parameter("beta")] = published.beta;
  study.compare({"D* exponent of the published constants", published.tokens_exponent, 0.02},
                tokens_exponent(form, theirs, widths, r), {},
                "at the sweep's cost per token, constants as printed");
}

/// Exponents without a law: lowest points of parabolas.
void parabolas(Study& study, const Separate& published, const std::vector<MadeRow>& minima,
               const IsoFlop& frontier) {
  std::vector<double> x, y;
  for (const auto& row : minima) {
    if (row.loops != published.r) continue;
    x.push_back(std::log(row.budget));
    y.push_back(std::log(row.tokens));
  }
  study.about(fmt::format("line through the minima, r = {}", published.r), x.size());
  study.compare({"D* exponent", published.tokens_exponent, 0.02}, slope_of(x, y), {},
                "their own minima, D = C / F(N*)");
  for (const auto& cell : frontier.cells) {
    if (cell.varied != "n_total" || cell.loops != published.r || !cell.tokens) continue;
    std::size_t rows = 0;
    for (const auto& curve : cell.curves) rows += curve.problem.empty() ? curve.rows : 0;
    study.about(fmt::format("parabolas over the points, r = {}", published.r), rows);
    study.compare({"D* exponent", slope_of(x, y), 0.05}, cell.tokens->exponent,
                  cell.tokens->interval,
                  fmt::format("against the line through their minima; {} of {} budgets",
                              cell.curves.size() - cell.left_out, cell.curves.size()));
  }
}

}  // namespace

void study_iso_depth(Study& study) {
  const auto points = points_of(study);
  const auto minima = minima_of(study);
  auto both = points;
  both.insert(both.end(), minima.begin(), minima.end());
  const auto table = made_table("points", points);
  joint_law(study, table, "the 91 points read off the figure");
  joint_law(study, made_table("points and minima", both), "the points and the 24 exact minima");
  compare_laws(study, table);
  const auto frontier = isoflop_frontier(
      table, {.bootstrap = study.options().bootstrap, .seed = study.options().seed});
  const Widths widths(study);
  for (const auto& published : kSeparate) {
    separate_law(study, published, widths, made_table("points and minima", both));
    parabolas(study, published, minima, frontier);
  }
}

// looped-lm-scaling counts 6 a matrix parameter and use, the gains of norms included, 12 H K S a
// layer for attention without the causal half, and 6 D V for the head (estimate_flops in
// nanochat/gpt.py at ad7d8f3): with B back-propagated loops (2 (T − B) + 6 B) N_rec, our 2 (T + 2B)
// N_rec.
void study_flops_per_token(Study& study) {
  const auto table = study.read_raw(std::string(kFolder) + "width_tables.csv");
  const auto r = numbers_of(table, "r"), s = numbers_of(table, "s");
  const auto flops = numbers_of(table, "log_F_per_token");
  constexpr double kVocabulary = 32064;  // 32 000 and special tokens, padded to a multiple of 64
  constexpr double kLength = 2048;
  double largest = 0, largest_matrices = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double width = 64 * s[i], layer = 12 * width * width;
    const double injection = r[i] > 1 ? 2 * width * width : 0;
    const double n_once = 4 * layer, n_rec = 16 / r[i] * layer + injection;
    const double matrices = train_matmul_flops(n_once, n_rec, {r[i], r[i]});
    const double rest = 20 * 12 * width * kLength + 6 * width * kVocabulary + 6 * 40 * width;
    const double theirs = std::exp(flops[i]);
    largest = std::max(largest, std::abs((matrices + rest) / theirs - 1));
    largest_matrices = std::max(largest_matrices, std::abs(matrices / theirs - 1));
  }
  study.about("6 N_once + 2 (T + 2B) N_rec", r.size());
  study.compare({"largest relative difference with their attention, head and norms", 0, 5.1e-5},
                largest, {}, "their numbers have five digits, so 5e-5 is equality");
  study.found("largest relative difference of the matrices alone", largest_matrices, {},
              "what the FLOPs of laws leave out: attention and head");
  study.about("2 (T + 2B) against 2 (T - B) + 6 B", 15);
  double difference = 0;
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k <= i; ++k) {
      const double t = 1 << i, b = 1 << k;
      difference =
          std::max(difference, std::abs(train_matmul_flops(0, 1, {t, b}) - (2 * (t - b) + 6 * b)));
    }
  study.compare({"largest difference over T, B", 0, 0}, difference, {}, "closed form, exact");
}

}  // namespace rondo
