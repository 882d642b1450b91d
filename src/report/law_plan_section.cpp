// A plan as tables: what `rondo plan --json` printed.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "base/text.h"
#include "report/html.h"
#include "report/law_json.h"
#include "report/law_sections.h"
#include "report/page_parts.h"

namespace rondo {
namespace {

using PlanRows = std::vector<std::vector<std::string>>;

/// Settings shown; the rest is in the file beside the page.
constexpr std::size_t kShownSettings = 12;

std::string plan_count(const Json& object, const char* key) {
  const double value = json_number(object, key);
  return std::isfinite(value) ? si(value) : "–";
}

std::string plan_number(const Json& object, const char* key, std::string_view format) {
  const double value = json_number(object, key);
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "–";
}

std::string limits_words(const Json& plan) {
  const Json& limits = json_member(plan, "limits");
  if (!limits.is_object()) return "";
  std::vector<std::string> parts;
  for (const auto& [key, value] : limits.items()) {
    if (!value.is_number()) continue;
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    parts.push_back(fmt::format("{} {:.4g}", name, value.get<double>()));
  }
  std::string text = "Limits: " + join(parts, ", ");
  if (const double share = json_number(plan, "recurrent_share"); std::isfinite(share))
    text += fmt::format("; {:.1f} % of the parameters in the loop", 100 * share);
  if (const double most = json_number(plan, "loops_max"); std::isfinite(most))
    text += fmt::format(", at most {:g} loops", most);
  const auto binding = json_texts(plan, "binding");
  if (!binding.empty()) text += ". Met by the best setting: " + join(binding, ", ");
  return text + ".";
}

/// Text with its powers, "C^0.76", set as such.
std::string with_powers(const std::string& text) {
  static const std::regex kPower(R"(C\^(-?[0-9]+(\.[0-9]+)?))");
  return std::regex_replace(escape_html(text), kPower, "C<sup>$1</sup>");
}

/// "yes" with the reasons behind it.
std::string beyond_words(const Json& setting) {
  if (!json_true(setting, "extrapolates")) return "";
  return fmt::format("<span title=\"{}\">yes</span>",
                     escape_html(join(json_texts(setting, "outside"), "; ")));
}

std::string best_table(const Json& plan) {
  std::vector<TableColumn> columns = {
      {"loops", "Forward loops T.", true, "T"},
      {"backward loops", "Loops that are back-propagated, B.", true, "B"},
      {"parameters", "Without embeddings.", true, ""},
      {"in the loop", "Recurrent parameters.", true, ""},
      {"tokens", "", true, ""},
      {"FLOPs", "Of training.", true, ""},
      {"loss", "As the law predicts it.", true, "nats/token"},
      {"95 % interval", "Of the bootstrap's refits at this setting.", true, ""},
      {"best in", "Share of the refits under which these loops are best.", true, "of refits"},
      {"beyond the data", "Where the setting leaves what the law was fitted on.", false, ""}};
  PlanRows rows;
  const auto best = json_list(plan, "best");
  for (std::size_t i = 0; i < std::min(kShownSettings, best.size()); ++i) {
    const Json& at = best[i];
    const auto interval = json_interval(at, "loss_interval");
    const double share = json_number(at, "share_best");
    rows.push_back(
        {plan_number(at, "loops", "{:g}"), plan_number(at, "backward_loops", "{:g}"),
         plan_count(at, "n_total"), plan_count(at, "n_rec"), plan_count(at, "tokens"),
         plan_number(at, "flops", "{:.3g}"), plan_number(at, "loss_nats", "{:.4f}"),
         interval ? fmt::format("{:.4f} … {:.4f}", interval->first, interval->second) : "–",
         std::isfinite(share) ? fmt::format("{:.0f} %", 100 * share) : "–", beyond_words(at)});
  }
  if (rows.empty()) return "";
  drop_empty_columns(columns, rows);
  std::string out = "<h3>Best settings</h3>\n" + html_table(columns, rows);
  if (best.size() > kShownSettings)
    out += fmt::format("<p class=\"fine\">The first {} of {} pairs (T, B).</p>\n", kShownSettings,
                       best.size());
  return out;
}

std::string exponents_table(const Json& plan) {
  PlanRows rows;
  for (const auto& [key, title] :
       {std::pair("exponents", "at this budget"), std::pair("exponents_asymptotic", "as C → ∞")}) {
    const Json& exponents = json_member(plan, key);
    if (!exponents.is_object()) continue;
    rows.push_back({title, plan_number(exponents, "loops", "{:.3f}"),
                    plan_number(exponents, "tokens", "{:.3f}"),
                    plan_number(exponents, "parameters", "{:.3f}"),
                    with_powers(json_text(exponents, "reason"))});
  }
  if (rows.empty()) return "";
  std::vector<TableColumn> columns = {{"as powers of the budget C", "", false, ""},
                                      {"loops", "", true, ""},
                                      {"tokens", "", true, ""},
                                      {"parameters", "", true, ""},
                                      {"why", "", false, ""}};
  return "<h3>How the best setting grows</h3>\n" + html_table(columns, rows);
}

std::string growth_table(const Json& plan) {
  PlanRows rows;
  for (const auto& at : json_list(plan, "growth"))
    rows.push_back({plan_number(at, "budget_flops", "{:.3g}"), plan_number(at, "loops", "{:.3g}"),
                    plan_number(at, "backward_loops", "{:.3g}"), plan_count(at, "n_total"),
                    plan_count(at, "tokens"), plan_number(at, "loss_nats", "{:.4f}")});
  if (rows.empty()) return "";
  return html_table({{"budget", "", true, "FLOPs"},
                     {"loops", "Taken as a real number.", true, "T"},
                     {"backward loops", "Taken as a real number.", true, "B"},
                     {"parameters", "", true, ""},
                     {"tokens", "", true, ""},
                     {"loss", "", true, "nats/token"}},
                    rows);
}

std::string flatness_table(const Json& plan) {
  PlanRows rows;
  for (const auto& row : json_list(plan, "flatness"))
    rows.push_back({plan_number(row, "nats", "{:g}"), plan_count(row, "n_total_lowest"),
                    plan_count(row, "n_total_highest"), plan_number(row, "factor_down", "× {:.2f}"),
                    plan_number(row, "factor_up", "× {:.2f}")});
  std::string out;
  if (!rows.empty())
    out =
        "<h3>How much the size may be off</h3>\n<p class=\"how\">Sizes at the same loops and "
        "budget "
        "that cost no more than so many nats; “–” where a limit comes first.</p>\n" +
        html_table({{"nats worse", "", true, ""},
                    {"smallest", "", true, "parameters"},
                    {"largest", "", true, "parameters"},
                    {"smallest", "", true, "of the best"},
                    {"largest", "", true, "of the best"}},
                   rows);
  const Json& next = json_member(plan, "runner_up");
  if (next.is_object())
    out += fmt::format(
        "<p class=\"fine\">The next best loops, T {:g} and B {:g}, are {} nats worse.</p>\n",
        json_number(next, "loops"), json_number(next, "backward_loops"),
        plan_number(next, "loss_gap_nats", "{:.4f}"));
  return out;
}

/// "−0.0869".
std::string signed_words(double value) {
  if (!std::isfinite(value)) return "–";
  return fmt::format("{}{:.4f}", value < 0 ? "−" : "+", std::abs(value));
}

/// "−29.6 %", "0 %".
std::string change_words(double change) {
  if (!std::isfinite(change)) return "–";
  if (std::abs(change) < 5e-4) return "0 %";
  return fmt::format("{}{:.1f} %", change < 0 ? "−" : "+", 100 * std::abs(change));
}

std::string trade_offs_table(const Json& plan) {
  PlanRows rows;
  for (const auto& trade : json_list(plan, "trade_offs")) {
    const double saved = json_number(trade, "parameters_saved");
    const double extra = json_number(trade, "extra_flops");
    rows.push_back(
        {plan_number(trade, "loops", "{:g}"), plan_number(trade, "backward_loops", "{:g}"),
         json_text(trade, "at") == "equal_flops" ? "equal FLOPs" : "equal tokens",
         signed_words(json_number(trade, "loss_gap_nats")),
         std::isfinite(saved) ? change_words(-saved) : "not reached", change_words(extra)});
  }
  if (rows.empty()) return "";
  std::string out = "<h3>What loops buy</h3>\n<p class=\"how\">";
  if (const Json& plain = json_member(plan, "plain"); plain.is_object())
    out += fmt::format("Against the best model without loops ({} parameters, {} tokens, {} nats). ",
                       plan_count(plain, "n_total"), plan_count(plain, "tokens"),
                       plan_number(plain, "loss_nats", "{:.4f}"));
  out += "Parameters and FLOPs are those of the smallest looped model with the same loss.</p>\n";
  return out + html_table({{"loops", "", true, "T"},
                           {"backward loops", "", true, "B"},
                           {"at", "", false, ""},
                           {"loss gap",
                            "Loss of these loops at their best size, less that of the plain model.",
                            true, "nats"},
                           {"parameters", "At the loss of the plain model.", true, "change"},
                           {"FLOPs", "At the loss of the plain model.", true, "change"}},
                          rows);
}

std::string recipe_words(const Json& plan) {
  const Json& recipe = json_member(plan, "recipe");
  if (!recipe.is_object()) return "";
  const auto whole = [&](const char* key) { return plan_number(recipe, key, "{:.0f}"); };
  return fmt::format(
      "<p>The nearest recipe: width {}, {} heads of {}, feed-forward {}, {} loops of which {} are "
      "back-propagated, {} steps; {} parameters and {} tokens.</p>\n",
      whole("d_model"), whole("heads"), whole("head_dim"), whole("d_ff"), whole("loops"),
      whole("backward_loops"), whole("steps"), plan_count(recipe, "n_total"),
      plan_count(recipe, "tokens"));
}

}  // namespace

std::string law_plan_section(const Json& plan) {
  if (!plan.is_object()) return "";
  std::string out = "<section id=\"plan\">\n<h2>The plan</h2>\n";
  if (const auto rule = json_text(json_member(plan, "rule"), "text"); !rule.empty())
    out += fmt::format("<p class=\"lead\">{}</p>\n", with_powers(rule));
  out += fmt::format("<p class=\"how\">{}</p>\n", escape_html(limits_words(plan)));
  std::vector<std::string> warnings = json_texts(plan, "warnings");
  for (auto& text : json_texts(plan, "outside"))
    if (std::none_of(warnings.begin(), warnings.end(),
                     [&](const auto& warning) { return warning.find(text) != std::string::npos; }))
      warnings.push_back(std::move(text));
  out += notes_aside("Before you rely on this plan", warnings);
  return out + best_table(plan) + recipe_words(plan) + exponents_table(plan) + growth_table(plan) +
         flatness_table(plan) + trade_offs_table(plan) + "</section>\n";
}

DataTable plan_settings(const Json& plan) {
  constexpr std::array kKeys = std::to_array<const char*>(
      {"loops", "backward_loops", "n_once", "n_rec", "n_total", "tokens", "flops", "loss_nats"});
  DataTable table;
  for (const char* key : kKeys) table.columns.emplace_back(key);
  for (const char* key : {"loss_low", "loss_high", "share_best", "outside"})
    table.columns.emplace_back(key);
  for (const auto& at : json_list(plan, "best")) {
    auto& row = table.rows.emplace_back();
    for (const char* key : kKeys) row.emplace_back(json_number(at, key));
    const auto interval = json_interval(at, "loss_interval");
    row.emplace_back(interval ? interval->first : std::nan(""));
    row.emplace_back(interval ? interval->second : std::nan(""));
    row.emplace_back(json_number(at, "share_best"));
    row.emplace_back(join(json_texts(at, "outside"), "; "));
  }
  return table;
}

}  // namespace rondo
