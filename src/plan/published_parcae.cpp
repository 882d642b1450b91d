// Parcae (arXiv 2604.12946): loops at a fixed size, T* ~ C^0.40 and D* ~ C^0.78 with B = T / 2,
// against T* ~ C^0.24 and D* ~ C^0.76 of arXiv 2610.26030. What the runs of its figure say, what
// the cost of a token explains, and what laws fitted to the runs do.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/statistics.h"
#include "law/catalogue.h"
#include "plan/curve.h"
#include "plan/exponents.h"
#include "plan/published_study.h"

namespace rondo {
namespace {

constexpr double kPublishedLoops = 0.40, kPublishedTokens = 0.78;
constexpr double kTolerance = 0.05;  // losses read off a figure to ±0.002 nats
constexpr double kLength = 2048, kVocabulary = 32768;
constexpr double kTruncated = 0.5;  // B / T of the sweep (runs/sweep_recurrence.sh at dee8363)

/// parcae_lm/configs/parcae at dee8363: layers of 12 d² (ReLU² of 4 d, no gate), injection B and
/// read-out C of d² each outside the loop, value embeddings in every second layer.
struct Scale {
  const char* name;
  double width, outside_layers, core_layers, value_embeddings;

  [[nodiscard]] double n_once() const { return (12 * outside_layers + 2) * width * width; }
  [[nodiscard]] double n_rec() const { return 12 * core_layers * width * width; }
};
constexpr std::array<Scale, 2> kScales = {{{"140M", 768, 4, 2, 3}, {"370M", 1024, 8, 4, 6}}};

/// What a token is said to cost. The repository's scripts/cost.py counts every parameter but the
/// token embedding as a matrix, so the value embeddings too, which are looked up.
enum class Cost { kMatrices, kAttention, kRepository };

const char* name_of(Cost cost) {
  if (cost == Cost::kMatrices) return "matrices only";
  return cost == Cost::kRepository ? "as cost.py counts" : "value embeddings free";
}

/// FLOPs per token: once + loop · T with B = share · T.
struct TokenCost {
  double once, loop;
  TokenCost(const Scale& scale, double share, Cost cost) {
    const double attention = cost == Cost::kMatrices ? 0 : 4 * scale.width * kLength;
    const double lookups =
        cost == Cost::kRepository ? scale.value_embeddings * kVocabulary * scale.width : 0;
    once = 6 * (scale.n_once() + lookups) + 3 * scale.outside_layers * attention;
    loop = (1 + 2 * share) * (2 * scale.n_rec() + scale.core_layers * attention);
  }
  [[nodiscard]] double at(double loops) const { return once + loop * loops; }
  /// d ln cost / d ln T.
  [[nodiscard]] double elasticity(double loops) const { return loop * loops / at(loops); }
};

/// The figure's points of one scale, or of all with a null one.
std::vector<MadeRow> points_of(const RawTable& table, const Scale* only, bool covered, Cost cost) {
  const auto budgets = numbers_of(table, "flops"), loops = numbers_of(table, "mean_recurrence");
  const auto losses = numbers_of(table, "val_loss");
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(table.names.begin(), table.names.end(), name) -
                                    table.names.begin());
  };
  const auto scale_at = column("scale"), covered_at = column("occluded_by_star");
  require(std::max(scale_at, covered_at) < table.names.size(),
          "{}: no column scale or occluded_by_star", table.files.front());
  std::vector<MadeRow> rows;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!covered && table.cells[i][covered_at] == "yes") continue;
    for (const auto& scale : kScales) {
      if (table.cells[i][scale_at] != scale.name || (only != nullptr && only != &scale)) continue;
      const TokenCost token(scale, kTruncated, cost);
      rows.push_back({scale.n_once(), scale.n_rec(), loops[i], kTruncated * loops[i],
                      budgets[i] / token.at(loops[i]), losses[i], budgets[i]});
    }
  }
  return rows;
}

/// The cell over loops of a scale.
IsoFlopCell parabolas(const Study& study, const std::vector<MadeRow>& rows) {
  const auto frontier =
      isoflop_frontier(made_table("isoflop_digitised.csv", rows),
                       {.bootstrap = study.options().bootstrap, .seed = study.options().seed});
  for (const auto& cell : frontier.cells)
    if (cell.varied == "loops") return cell;
  fail("parcae/isoflop_digitised.csv: no budget with three loop counts");
}

/// Loops at the lowest points, by budget.
struct Optima {
  std::vector<double> budgets, loops;
};

Optima optima_of(const IsoFlopCell& cell) {
  Optima optima;
  for (const auto& curve : cell.curves) {
    if (!curve.problem.empty()) continue;
    optima.budgets.push_back(curve.budget);
    optima.loops.push_back(curve.best);
  }
  return optima;
}

std::string label(const std::string& what, const Scale& scale) { return what + ", " + scale.name; }

/// Exponents of the parabolas' lowest points.
void frontier(Study& study, const RawTable& table) {
  for (const auto& scale : kScales) {
    const auto clear = points_of(table, &scale, false, Cost::kRepository);
    if (clear.empty()) continue;
    const auto cell = parabolas(study, clear);
    if (!cell.best) continue;
    study.about("parabolas in ln T", clear.size());
    const auto budgets = fmt::format("{} of {} budgets, markers under a star left out",
                                     cell.curves.size() - cell.left_out, cell.curves.size());
    study.compare({label("T* exponent", scale).c_str(), kPublishedLoops, kTolerance},
                  cell.best->exponent, cell.best->interval, budgets);
    const auto all = parabolas(study, points_of(table, &scale, true, Cost::kRepository));
    study.compare(
        {label("T* exponent, covered markers too", scale).c_str(), kPublishedLoops, kTolerance},
        all.best->exponent, all.best->interval);
    study.compare({label("D* exponent", scale).c_str(), kPublishedTokens, kTolerance},
                  cell.tokens->exponent, cell.tokens->interval,
                  "tokens as cost.py gives them: value embeddings counted as matrices");
    const auto lookups = parabolas(study, points_of(table, &scale, false, Cost::kAttention));
    study.compare(
        {label("D* exponent, value embeddings free", scale).c_str(), kPublishedTokens, kTolerance},
        lookups.tokens->exponent, lookups.tokens->interval,
        "tokens with matrices and attention only");
  }
}

/// D · cost(T) = C: with T* ~ C^a the tokens go as C^(1 − a · elasticity), which is 1 − a only
/// where the loops are all of the cost.
void cost_alone(Study& study, const RawTable& table) {
  for (const auto& scale : kScales) {
    const auto rows = points_of(table, &scale, false, Cost::kRepository);
    if (rows.empty()) continue;
    const auto optima = optima_of(parabolas(study, rows));
    for (const auto cost : {Cost::kRepository, Cost::kAttention, Cost::kMatrices}) {
      std::vector<double> parts;
      for (const double loops : optima.loops)
        parts.push_back(TokenCost(scale, kTruncated, cost).elasticity(loops));
      const auto what = name_of(cost);
      study.about("D cost(T) = C", rows.size());
      study.found(label(fmt::format("share of a token's cost in the loops at T*, {}", what), scale),
                  mean(parts), {}, "mean over the budgets; d ln cost / d ln T");
      study.compare(
          {label(fmt::format("D* exponent that T* ~ C^0.40 implies, {}", what), scale).c_str(),
           kPublishedTokens, kTolerance},
          1 - kPublishedLoops * mean(parts), {},
          fmt::format("1 - 0.40 times that share; the sum of the exponents is {:.2f} and not 1",
                      1 + kPublishedLoops * (1 - mean(parts))));
    }
  }
}

/// Runs of table 5 of the paper, T = 8 and B = 4: validation loss (logarithm of its perplexity) at
/// the tokens of launch_configs/. They say which count of FLOPs the figure's budgets are in.
struct Anchor {
  double loss, tokens;
};
const std::array<Anchor, 2> kAnchors = {{{std::log(19.06), 11.2e9}, {std::log(14.49), 29.6e9}}};

/// Loss of the figure's points at T = 8 at these tokens, a line over ln D between the two nearest.
void anchors(Study& study, const RawTable& table) {
  for (std::size_t i = 0; i < kScales.size(); ++i) {
    for (const auto cost : {Cost::kRepository, Cost::kAttention}) {
      std::vector<double> log_tokens, loss;
      for (const auto& row : points_of(table, &kScales[i], false, cost)) {
        if (row.loops != 8) continue;
        log_tokens.push_back(std::log(row.tokens));
        loss.push_back(row.loss);
      }
      if (log_tokens.size() < 2) continue;
      const double x = std::log(kAnchors[i].tokens);
      std::size_t k = 0;
      while (k + 2 < log_tokens.size() && log_tokens[k + 1] < x) ++k;
      const double part = (x - log_tokens[k]) / (log_tokens[k + 1] - log_tokens[k]);
      study.about("points at T = 8", log_tokens.size());
      const auto what =
          fmt::format("loss at {:.1f} B tokens, {}", kAnchors[i].tokens / 1e9, name_of(cost));
      study.compare({label(what, kScales[i]).c_str(), kAnchors[i].loss, 0.01},
                    loss[k] + part * (loss[k + 1] - loss[k]), {},
                    "table 5, logarithm of the perplexity");
    }
  }
}

/// Chance of k under a Poisson law.
double poisson(double rate, int k) {
  return std::exp(k * std::log(rate) - rate - std::lgamma(k + 1.0));
}

/// T drawn as max(1, Poisson(mean)), min(T, B) of it back-propagated: what the runs spent, against
/// what their budget counts.
void sampled_loops(Study& study, const RawTable& table) {
  for (const auto& scale : kScales) {
    const auto rows = points_of(table, &scale, false, Cost::kRepository);
    if (rows.empty()) continue;
    const auto optima = optima_of(parabolas(study, rows));
    std::vector<double> spent, loops;
    double largest = 0;
    for (std::size_t i = 0; i < optima.loops.size(); ++i) {
      const double t = optima.loops[i], b = kTruncated * t;
      double forward = 0, backward = 0;
      for (int k = 0; k < 200; ++k) {
        const double drawn = std::max(1, k);
        forward += poisson(t, k) * drawn;
        backward += poisson(t, k) * std::min(drawn, b);
      }
      const TokenCost token(scale, kTruncated, Cost::kRepository);
      const double unit = token.loop / (1 + 2 * kTruncated);
      const double ratio = (token.once + unit * (forward + 2 * backward)) / token.at(t);
      largest = std::max(largest, std::abs(ratio - 1));
      spent.push_back(std::log(optima.budgets[i] * ratio));
      loops.push_back(std::log(t));
    }
    study.about("sampled loops", rows.size());
    study.compare(
        {label("T* exponent against FLOPs as drawn", scale).c_str(), kPublishedLoops, kTolerance},
        slope_of(spent, loops), {},
        fmt::format("mean cost of the draws differs from the nominal by {:.1f} % at most",
                    100 * largest));
  }
}

/// The loops that a law prefers at a budget for this size.
double best_loops(const LawFunction& law, const Scale& scale, double budget, double share,
                  Cost cost) {
  const TokenCost token(scale, share, cost);
  const auto at = [&](double log_loops) {
    const double loops = std::exp(log_loops);
    return law({.n_once = scale.n_once(),
                .n_rec = scale.n_rec(),
                .loops = loops,
                .backward_loops = share * loops,
                .tokens = budget / token.at(loops)});
  };
  return std::exp(lowest_point(at, {0, std::log(1e4)}, 120).x);
}

/// Exponents of the best loops and tokens over the budgets of a scale.
struct Growth {
  double loops, tokens, first, last;
};

Growth growth_of(const LawFunction& law, const Scale& scale, const std::vector<double>& budgets,
                 double share, Cost cost) {
  const TokenCost token(scale, share, cost);
  std::vector<double> x, loops, tokens;
  for (const double budget : budgets) {
    const double best = best_loops(law, scale, budget, share, cost);
    x.push_back(std::log(budget));
    loops.push_back(std::log(best));
    tokens.push_back(std::log(budget / token.at(best)));
  }
  return {slope_of(x, loops), slope_of(x, tokens), std::exp(loops.front()), std::exp(loops.back())};
}

/// What the planner says of the same law at a budget with all loops back-propagated.
std::optional<Exponents> planned(const FitResult& fit, const Scale& scale, double budget) {
  const double total = scale.n_once() + scale.n_rec();
  const Problem problem{.limits = {.flops = budget, .parameters = total, .backward_loops = 0},
                        .recurrent_share = scale.n_rec() / total};
  return local_exponents(problem, LawFunction(fit.form, fit.parameters),
                         LoopSpace(problem.limits, 1000));
}

/// Exponents of a law over the budgets of the smaller size, under the costs and truncations.
void exponents_of(Study& study, const FitResult& fit, const std::vector<double>& budgets) {
  const auto& scale = kScales[0];
  const auto growth = [&](const std::vector<double>& parameters, double share, Cost cost) {
    return growth_of(LawFunction(fit.form, parameters), scale, budgets, share, cost);
  };
  const auto range = [](const Growth& one) {
    return fmt::format("T* {:.2f} … {:.2f} at 140M's budgets{}", one.first, one.last,
                       one.first < 1.001 ? ", held at 1 by the first" : "");
  };
  const auto loops = derived(fit, [&](const auto& parameters) {
    return growth(parameters, kTruncated, Cost::kRepository).loops;
  });
  const auto tokens = derived(fit, [&](const auto& parameters) {
    return growth(parameters, kTruncated, Cost::kRepository).tokens;
  });
  const auto truncated = growth(fit.parameters, kTruncated, Cost::kRepository);
  study.compare({"T* exponent, B = T / 2", kPublishedLoops, kTolerance}, loops.value,
                loops.interval, range(truncated));
  study.compare({"D* exponent, B = T / 2", kPublishedTokens, kTolerance}, tokens.value,
                tokens.interval, range(truncated));
  const struct {
    const char* name;
    double share;
    Cost cost;
  } kOthers[] = {{"B = T", 1, Cost::kRepository},
                 {"B = T / 2, value embeddings free", kTruncated, Cost::kAttention},
                 {"B = T / 2, matrices only", kTruncated, Cost::kMatrices},
                 {"B = T, matrices only", 1, Cost::kMatrices}};
  for (const auto& other : kOthers) {
    const auto one = growth(fit.parameters, other.share, other.cost);
    study.found(fmt::format("T* exponent, {}", other.name), one.loops, {}, range(one));
    study.found(fmt::format("D* exponent, {}", other.name), one.tokens);
  }
  const double middle = budgets[budgets.size() / 2];
  if (const auto plan = planned(fit, scale, middle))
    study.found("T* exponent by the planner, B = T, matrices only", plan->loops, {},
                fmt::format("at {:g} FLOPs; tokens {:.3f}", middle, plan->tokens));
  FittedLaw fitted;
  fitted.form = fit.form;
  fitted.parameters = fit.parameters;
  const auto limit = asymptotic_exponents(fitted, {.parameters = 1.0}, {.size = true});
  study.found("T* exponent for C to infinity", limit.exponents.loops, {}, limit.why);
}

/// The parabolas again, through the losses that a law gives the points: what the law says in the
/// words of the paper.
void parabolas_of(Study& study, const FitResult& fit, std::vector<MadeRow> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].loss = fit.predicted[i];
  std::erase_if(rows, [](const MadeRow& row) { return row.n_once != kScales[0].n_once(); });
  const auto cell = parabolas(study, rows);
  if (!cell.best) return;
  study.compare(
      {"T* exponent, parabolas through the law's losses, 140M", kPublishedLoops, kTolerance},
      cell.best->exponent, {},
      fmt::format("{} of {} budgets", cell.curves.size() - cell.left_out, cell.curves.size()));
}

/// A law and the parameters that are held.
struct Held {
  std::string title, law;
  std::vector<std::pair<std::string, double>> fixed;
};

// B = T / 2 in every row, so p and q are not told apart and the paper's are taken: its p and q, and
// in the last all four exponents as the reconstruction of arXiv 2610.26030 has them.
const std::vector<Held> kLaws = {{"parcae", "parcae", {}},
                                 {"iso-depth", "iso-depth", {}},
                                 {"bounded", "bounded", {}},
                                 {"joint, p and q held", "joint", {{"p", 0.237}, {"q", 1.022}}},
                                 {"joint, exponents of arXiv 2610.26030",
                                  "joint",
                                  {{"alpha", 0.312}, {"beta", 0.398}, {"p", 0.237}, {"q", 1.022}}}};

/// Laws fitted to the clear points of both sizes.
void laws(Study& study, const RawTable& table) {
  const auto points = points_of(table, nullptr, false, Cost::kRepository);
  const auto rows = made_table("isoflop_digitised.csv", points);
  const auto lookups =
      made_table("isoflop_digitised.csv", points_of(table, nullptr, false, Cost::kAttention));
  std::vector<double> budgets;
  for (const auto& row : points_of(table, kScales.data(), true, Cost::kRepository))
    if (budgets.empty() || row.budget > budgets.back()) budgets.push_back(row.budget);
  for (const auto& held : kLaws) {
    auto form = find_law(held.law);
    fix_parameters(form, held.fixed);
    const auto fit =
        study.fit(form, rows, study.fit_options(study.options().bootstrap, {"budget", "n_once"}));
    study.about(held.title, rows.rows());
    study.found("RMSE", fit.fitted.rmse_nats);
    study.found("RMSE, value embeddings free",
                study.fit(form, lookups, study.fit_options(0)).fitted.rmse_nats);
    for (std::size_t i = 0; i < form.parameters.size(); ++i)
      if (!form.parameters[i].fixed && form.parameters[i].scale.empty())
        study.found(form.parameters[i].name, fit.identified[i] ? fit.parameters[i] : std::nan(""),
                    fit.intervals[i], fit.identified[i] ? "" : "not determined by these rows");
    exponents_of(study, fit, budgets);
    parabolas_of(study, fit, points);
  }
}

}  // namespace

void study_parcae(Study& study) {
  const auto table = study.read_raw("looped_results/parcae/isoflop_digitised.csv");
  frontier(study, table);
  cost_alone(study, table);
  anchors(study, table);
  sampled_loops(study, table);
  laws(study, table);
}

}  // namespace rondo
