// The page of `rondo reproduce recurrence`.
#include "report/recurrence_page.h"

#include <cmath>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "report/claims.h"
#include "report/html.h"
#include "report/loop_curves.h"
#include "report/page_parts.h"

namespace rondo {
namespace {

using Row = std::vector<std::string>;
using Results = std::vector<const RecurrenceResult*>;

Results results_of(const RecurrenceTable& table, std::span<const RecurrenceResult> results) {
  Results chosen;
  for (const auto& model : table.models)
    for (const auto& result : results)
      if (result.model.folder == model.folder) chosen.push_back(&result);
  return chosen;
}

std::string spread(const std::optional<OverSeeds>& over, int digits) {
  if (!over) return "–";
  const auto number = fmt::format("{:.{}f}", over->mean, digits);
  return over->sd ? fmt::format("{} ± {:.{}f}", number, *over->sd, digits) : number;
}

/// A mean to three digits, for what spans orders of magnitude.
std::string short_text(const std::optional<OverSeeds>& over) {
  return over ? fmt::format("{:.3g}", over->mean) : "–";
}

/// "0.52 → 0.12": after the trained loops, and at the end.
std::string course(const RecurrenceResult& result, const char* probe, const char* site) {
  const auto at = [&](std::int64_t loop) {
    return short_text(probe_at(result, {.probe = probe, .site = site, .loop = loop}));
  };
  return at(result.model.loops) + " → " + at(kRecurrenceReach * result.model.loops);
}

std::string losses_table(const Results& results) {
  const std::vector<TableColumn> head = {
      {"form", "", false, ""},
      {"parameters", "", true, ""},
      {"FLOPs per token", "of training", true, ""},
      {"seeds", "finished", true, ""},
      {"bits per byte, K", "held out, after the trained loops", true, "mean ± SD"},
      {"2 K", "after twice as many", true, "mean ± SD"},
      {"3 K", "after three times as many", true, "mean ± SD"},
      {"rise to 3 K", "of the loss", true, "nats"}};
  std::vector<Row> rows;
  for (const auto* result : results) {
    const auto trained = result->model.loops;
    rows.push_back({escape_html(result->model.form), si(result->parameters),
                    si(result->flops_per_token), std::to_string(result->seeds.size()),
                    spread(bits_at(*result, trained), 3), spread(bits_at(*result, 2 * trained), 3),
                    spread(bits_at(*result, kRecurrenceReach * trained), 3),
                    spread(rise_of(*result), 3)});
  }
  return html_table(head, rows);
}

std::string probes_table(const Results& results) {
  const std::vector<TableColumn> head = {
      {"form", "", false, ""},
      {"update", "relative update of loop K and of loop 3 K", true, "K → 3 K"},
      {"angle / π", "of loop K and of loop 3 K", true, "K → 3 K"},
      {"variance", "of the state after K and after 3 K loops", true, "K → 3 K"},
      {"spectral radius", "of loop K and of loop 3 K", true, "K → 3 K"},
      {"interaction", "mean over all pairs a loop or more apart, beyond K", true, ""}};
  std::vector<Row> rows;
  for (const auto* result : results)
    rows.push_back(
        {escape_html(result->model.form), course(*result, "update", "loop"),
         course(*result, "angle", "loop"), course(*result, "variance", "state"),
         course(*result, "spectral_radius", "loop"),
         short_text(probe_at(*result, {.probe = "interaction", .site = "lags_from_1"}))});
  return html_table(head, rows);
}

/// A line per form; `value` says what stands at a number of loops, from 0 on.
std::vector<LoopSeries> lines(
    const Results& results,
    const std::function<std::optional<OverSeeds>(const RecurrenceResult&, std::int64_t)>& value) {
  std::vector<LoopSeries> all;
  for (const auto* result : results) {
    LoopSeries series{.name = result->model.form, .points = {}};
    for (std::int64_t loop = 0; loop <= kRecurrenceReach * result->model.loops; ++loop) {
      const auto here = value(*result, loop);
      if (!here) continue;
      series.points.emplace_back(loop, here->mean);
      series.ranges.emplace_back(here->low, here->high);
    }
    all.push_back(std::move(series));
  }
  return all;
}

std::vector<LoopSeries> probe_lines(const Results& results, const char* probe, const char* site) {
  return lines(results, [&](const RecurrenceResult& result, std::int64_t loop) {
    return probe_at(result, {.probe = probe, .site = site, .loop = loop});
  });
}

std::vector<Chart> charts_of(const RecurrenceTable& table, const Results& results) {
  const auto trained = static_cast<double>(results.front()->model.loops);
  std::vector<Chart> charts;
  const auto add = [&](const CurveWords& words, const std::vector<LoopSeries>& series,
                       double horizon, std::optional<double> level = {}) {
    auto chart = loop_curves(words, series, horizon, level);
    if (!chart) return;
    chart->name = table.name + "-" + chart->name;
    charts.push_back(std::move(*chart));
  };
  add({"loss", "Loss beyond the trained loops",
       "Held-out loss of the same weights after more or fewer loops; bands from the lowest to the "
       "highest seed: a line that turns up behind the mark is a model that more loops hurt.",
       "bits per byte", "loops at inference"},
      lines(results, bits_at), trained);
  add({"update", "How far a loop moves the state",
       "Length of the change over length of the state before it: falling lines are states that "
       "settle, or that grow faster than they change.",
       "relative update"},
      probe_lines(results, "update", "loop"), trained);
  add({"angle", "How far a loop turns the state",
       "Angle between the states before and after a loop as a share of half a turn: near zero the "
       "state keeps its direction.",
       "angle / π"},
      probe_lines(results, "angle", "loop"), trained);
  add({"variance", "Variance of the state",
       "Over the channels, relative to that after the trained loops: above 1 behind the mark the "
       "state goes on growing.",
       "variance / that after K"},
      probe_lines(results, "variance", "state_normalised"), trained, 1.0);
  add({"spectrum", "Whether small changes die out",
       "Largest |eigenvalue| of a loop's Jacobian: below the line at 1 small changes of the state "
       "shrink in the end, above it some grow.",
       "spectral radius"},
      probe_lines(results, "spectral_radius", "loop"), trained, 1.0);
  add({"lags", "How far a loop's influence reaches",
       "Mean interaction of pairs of layers so many loops apart, both beyond the trained loops: a "
       "low line is a loop whose work others do not build on.",
       "mean interaction", "distance in loops"},
      lines(results,
            [](const RecurrenceResult& result, std::int64_t lag) {
              return probe_at(result, {.probe = "interaction", .site = "lag", .lag = lag});
            }),
      NAN);
  return charts;
}

}  // namespace

DataTable recurrence_losses(const RecurrenceTable& table,
                            std::span<const RecurrenceResult> results) {
  DataTable data;
  data.columns = {
      "layout",         "form",         "parameters",    "flops_per_token",  "loops", "trained",
      "loss_nats_mean", "loss_nats_sd", "bits_per_byte", "bits_per_byte_sd", "seeds", "failed"};
  for (const auto* result : results_of(table, results))
    for (std::int64_t loops = 1; loops <= kRecurrenceReach * result->model.loops; ++loops) {
      const auto loss = loss_at(*result, loops), bits = bits_at(*result, loops);
      if (!loss || !bits) continue;
      data.rows.push_back({result->model.layout, result->model.form, result->parameters,
                           result->flops_per_token, static_cast<double>(loops),
                           std::string(loops == result->model.loops ? "yes" : "no"), loss->mean,
                           cell_of(loss->sd), bits->mean, cell_of(bits->sd),
                           static_cast<double>(loss->seeds), static_cast<double>(result->failed)});
    }
  return data;
}

DataTable recurrence_probes(std::span<const RecurrenceResult> results) {
  DataTable data;
  data.columns = {"layout", "form", "probe", "site", "loop", "lag", "mean", "sd", "seeds"};
  for (const auto& result : results) {
    std::set<ProbeKey> keys;
    for (const auto& seed : result.seeds)
      for (const auto& [key, value] : seed.probes)
        // Blocks have their rows in the diagnosis of each run.
        if (key.site.find('.') == std::string::npos) keys.insert(key);
    const auto place = [](std::int64_t at) {
      return at < 0 ? Cell(std::nan("")) : Cell(static_cast<double>(at));
    };
    for (const auto& key : keys)
      if (const auto over = probe_at(result, key))
        data.rows.push_back({result.model.layout, result.model.form, key.probe, key.site,
                             place(key.loop), place(key.lag), over->mean, cell_of(over->sd),
                             static_cast<double>(over->seeds)});
  }
  return data;
}

std::string render_recurrence_page(const RecurrencePage& page) {
  const auto title = fmt::format("Conditioning the recurrence, {} scale", page.scale);
  const auto count = count_claims(page.claims);
  std::string out = page_head(title, 0);
  out += fmt::format(
      "<body>\n<main>\n<h1>{}</h1>\n<p class=\"meta\">{}</p>\n"
      "<p class=\"lead\">After arXiv 2609.36636: {}. {} models; of {} expectations {} can be "
      "tested here and {} came out.</p>\n",
      escape_html(title), escape_html(page.written), escape_html(page.summary), page.results.size(),
      page.claims.size(), count.testable, count.reproduced);
  out += claims_section(page.claims, "Losses are in nats per byte, K loops were trained.");
  bool drawn = false;
  for (const auto& table : page.tables) {
    const auto results = results_of(table, page.results);
    if (results.empty()) continue;
    out += fmt::format(
               "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"how\">K = {} loops were trained; all "
               "models have seen the same tokens and are equally deep. Losses are of held-out "
               "text; a blind guess costs 8 bits per byte. {}</p>\n",
               escape_html(table.name), escape_html(table.title), results.front()->model.loops,
               escape_html(table.note)) +
           losses_table(results) +
           "<p class=\"how\">Probes: means over the seeds, in a pass of 3 K loops.</p>\n" +
           probes_table(results) + "</section>\n";
    for (const auto& chart : charts_of(table, results)) {
      out += chart_section(chart, "");
      drawn = true;
    }
  }
  return out + page_end(drawn);
}

}  // namespace rondo
