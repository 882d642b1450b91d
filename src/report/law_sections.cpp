// What a fitted law is and how good it is, in words and tables.
#include "report/law_sections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "law/catalogue.h"
#include "report/html.h"
#include "report/law_json.h"

namespace rondo {
namespace {

/// Fewer starts than this share at the best objective are a reason to doubt it.
constexpr double kFewStarts = 0.02;

struct Meaning {
  std::string_view name, text;
};

/// What the parameters of the laws of the catalogue mean.
constexpr std::array kMeanings = std::to_array<Meaning>({
    {"E", "loss that neither size nor data removes"},
    {"A", "weight of the size term"},
    {"alpha", "how fast the loss falls with size"},
    {"B", "weight of the data term"},
    {"beta", "how fast the loss falls with tokens"},
    {"G", "bound of the gain: g approaches 1 + G"},
    {"K", "how slowly g approaches its bound"},
    {"p", "what forward loops add to u"},
    {"q", "what back-propagated loops add to u"},
    {"phi", "power of loops: 0 = worth nothing, 1 = new layers"},
    {"k1", "bound of what loops add, in recurrent blocks"},
    {"k2", "loops after which most of the gain is reached"},
    {"Z", "weight of running fewer loops than trained"},
    {"z", "how fast that loss falls with loops"},
    {"R_D", "repetitions after which data are worth nothing more"},
    {"R_N", "the same for parameters beyond what the data need"},
});

std::string meaning_of(const LawForm& form, const std::string& parameter) {
  const auto known = law_names();
  if (std::find(known.begin(), known.end(), form.name) == known.end()) return "";
  for (const auto& [name, text] : kMeanings)
    if (name == parameter) return std::string(text);
  return "";
}

std::string runs_word(double count) {
  return fmt::format("{:.0f} run{}", count, count == 1 ? "" : "s");
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The formula with numbers for the parameters.
std::string with_numbers(const LawData& data, const std::string& formula) {
  std::string out;
  for (std::size_t i = 0; i < formula.size();) {
    std::size_t end = i;
    while (end < formula.size() && is_name(formula[end])) ++end;
    if (end == i) {
      out += formula[i++];
      continue;
    }
    const std::string word = formula.substr(i, end - i);
    const auto& parameters = data.law.form.parameters;
    const auto place = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const auto& one) { return one.name == word; });
    const double value =
        place == parameters.end()
            ? std::nan("")
            : data.law.parameters[static_cast<std::size_t>(place - parameters.begin())];
    out += std::isfinite(value) ? fmt::format("{:.4g}", value) : word;
    i = end;
  }
  return out;
}

std::string interval_cell(const Interval& interval) {
  return interval ? fmt::format("{:.4g} … {:.4g}", interval->first, interval->second) : "–";
}

std::string number_cell(double value, std::string_view digits = "{:.4g}") {
  return std::isfinite(value) ? fmt::format(fmt::runtime(digits), value) : "–";
}

}  // namespace

std::string law_summary(const LawData& data, const Json& fit) {
  const auto& form = data.law.form;
  std::string text = form.about.empty() ? "" : form.about + " ";
  const double points = json_number(fit, "points");
  if (std::isfinite(points))
    text += fmt::format("Fitted to {}, it is off by {:.4f} nats (root mean square)",
                        runs_word(points), json_number(fit, "rmse_nats"));
  if (const double r2 = json_number(fit, "r2"); std::isfinite(r2))
    text += fmt::format(" and explains {:.2f} % of their variance", 100 * r2);
  if (std::isfinite(points)) text += ".";
  const Json& holdout = json_member(fit, "holdout");
  if (holdout.is_object())
    text +=
        fmt::format(" It predicts {} that it did not see to {:.4f} nats.",
                    runs_word(json_number(holdout, "points")), json_number(holdout, "rmse_nats"));
  return text;
}

std::string law_figures(const Json& fit) {
  std::string out;
  const auto add = [&](std::string_view title, const std::string& value) {
    if (value != "–")
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(title),
                         escape_html(value));
  };
  const Json& holdout = json_member(fit, "holdout");
  add("runs fitted", number_cell(json_number(fit, "points"), "{:.0f}"));
  add("RMSE, nats", number_cell(json_number(fit, "rmse_nats"), "{:.4f}"));
  add("R²", number_cell(json_number(fit, "r2"), "{:.5f}"));
  add("runs held out", number_cell(json_number(holdout, "points"), "{:.0f}"));
  add("RMSE held out, nats", number_cell(json_number(holdout, "rmse_nats"), "{:.4f}"));
  add("R² held out", number_cell(json_number(holdout, "r2"), "{:.5f}"));
  const double starts = json_number(fit, "starts");
  if (starts > 0)
    add("starts at the best",
        fmt::format("{:.0f} of {:.0f}", json_number(fit, "starts_at_best"), starts));
  add("bootstrap refits",
      number_cell(json_number(json_member(fit, "bootstrap"), "refits"), "{:.0f}"));
  return out.empty() ? "" : "<dl class=\"figures\">\n" + out + "</dl>\n";
}

std::vector<std::string> law_warnings(const LawData& data, const Json& fit) {
  std::vector<std::string> warnings;
  const auto sentence = [&](std::string text) {
    if (text.empty()) return;
    if (std::islower(static_cast<unsigned char>(text[0])) != 0 && !text.starts_with("n_"))
      text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (!text.ends_with('.')) text += '.';
    warnings.push_back(std::move(text));
  };
  for (const auto& statement : data.law.statements) sentence(statement);
  const double starts = json_number(fit, "starts"), at_best = json_number(fit, "starts_at_best");
  if (starts > 1 && at_best < std::max(2.0, kFewStarts * starts))
    sentence(
        fmt::format("Only {:.0f} of {:.0f} starts ended at the best objective; more starts may "
                    "find a better fit",
                    at_best, starts));
  const std::string stop = json_text(json_member(fit, "stop"), "reason");
  if (!stop.empty() && stop != "converged")
    sentence(fmt::format("The search did not end at a minimum: {}", stop));
  if (const double dropped = json_number(fit, "dropped"); dropped > 0)
    sentence(fmt::format("{:.0f} row{} could not be used and {} left out", dropped,
                         dropped == 1 ? "" : "s", dropped == 1 ? "was" : "were"));
  if (data.unpredicted > 0)
    sentence(fmt::format("The law has no finite loss for {} rows, which are in no chart",
                         data.unpredicted));
  // How columns were named is said below, with the rest of the data.
  for (const auto& note : json_texts(fit, "notes"))
    if (note.find(" is taken as ") == std::string::npos) sentence(note);
  if (!data.why_no_function.empty()) sentence(data.why_no_function);
  return warnings;
}

std::string law_formula_section(const LawData& data, const Json& fit) {
  const auto& form = data.law.form;
  std::string text = fmt::format("loss = {}\n", form.loss);
  for (const auto& [name, formula] : form.define) text += fmt::format("{} = {}\n", name, formula);
  std::string numbers = fmt::format("loss = {}\n", with_numbers(data, form.loss));
  for (const auto& [name, formula] : form.define)
    numbers += fmt::format("{} = {}\n", name, with_numbers(data, formula));
  const Json& errors = json_member(fit, "standard_errors");
  const Json& profiles = json_member(fit, "profile_intervals");
  std::vector<TableColumn> columns = {
      {"parameter", "", false, ""},
      {"value", "", true, ""},
      {"95 % interval", "From 2.5 to 97.5 % of the bootstrap's refits.", true, "bootstrap"},
      {"standard error", "Of the bootstrap's refits.", true, ""},
      {"95 % interval", "Where the other parameters, fitted again, cannot make up for it.", true,
       "profile"},
      {"meaning", "", false, ""}};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    const auto& parameter = form.parameters[i];
    const double value = data.law.parameters[i];
    rows.push_back({"<code>" + escape_html(parameter.name) + "</code>",
                    std::isfinite(value) ? fmt::format("{:.5g}", value) : "not determined",
                    parameter.fixed ? "held"
                                    : interval_cell(json_interval(json_member(fit, "intervals"),
                                                                  parameter.name)),
                    number_cell(json_number(errors, parameter.name), "{:.3g}"),
                    interval_cell(json_interval(profiles, parameter.name)),
                    escape_html(meaning_of(form, parameter.name))});
  }
  drop_empty_columns(columns, rows);
  std::string out =
      fmt::format("<section id=\"law\">\n<h2>The law</h2>\n<pre>{}</pre>\n", escape_html(text));
  if (!form.source.empty())
    out += fmt::format("<p class=\"fine\">Source: {}</p>\n", escape_html(form.source));
  out += html_table(columns, rows);
  out += fmt::format(
      "<details><summary>With these numbers put in</summary>\n<pre>{}</pre></details>\n",
      escape_html(numbers));
  return out + "</section>\n";
}

std::string law_isoflop_section(const Json& fit) {
  const Json& isoflop = json_member(fit, "isoflop");
  if (!isoflop.is_object()) return "";
  const std::vector<TableColumn> columns = {
      {"runs that share", "", false, ""},
      {"over", "What varies among them.", false, ""},
      {"budget", "", true, ""},
      {"runs", "", true, ""},
      {"best", "Lowest point of the parabola.", true, ""},
      {"95 % interval", "", true, ""},
      {"tokens", "", true, ""},
      {"loss", "", true, "nats/token"},
      {"left out", "Why the parabola has no part in the exponents.", false, ""}};
  std::vector<std::vector<std::string>> rows;
  std::string exponents;
  for (const auto& cell : json_list(isoflop, "cells")) {
    const bool sizes = json_text(cell, "varied") == "n_total";
    const std::string shared = sizes
                                   ? fmt::format("T {:g}, B {:g}", json_number(cell, "loops"),
                                                 json_number(cell, "backward_loops"))
                                   : fmt::format("{} parameters", si(json_number(cell, "n_total")));
    for (const auto& curve : json_list(cell, "curves"))
      rows.push_back({escape_html(shared), escape_html(sizes ? "size" : "loops"),
                      number_cell(json_number(curve, "budget"), "{:.3g}"),
                      number_cell(json_number(curve, "rows"), "{:.0f}"),
                      number_cell(json_number(curve, "best")),
                      interval_cell(json_interval(curve, "interval")),
                      number_cell(json_number(curve, "tokens")),
                      number_cell(json_number(curve, "loss_nats"), "{:.4f}"),
                      escape_html(json_text(curve, "left_out"))});
    const double best = json_number(json_member(cell, "best"), "exponent");
    if (!std::isfinite(best)) continue;
    const auto range = json_interval(json_member(cell, "best"), "interval");
    exponents +=
        fmt::format("<li>{}: best {} ∝ C<sup>{:.3f}</sup>{}, tokens ∝ C<sup>{:.3f}</sup></li>\n",
                    escape_html(shared), sizes ? "size" : "loops", best,
                    range ? fmt::format(" ({:.3f} … {:.3f})", range->first, range->second) : "",
                    json_number(json_member(cell, "tokens"), "exponent"));
  }
  std::string out = "<section id=\"isoflop\">\n<h2>IsoFLOP parabolas</h2>\n";
  if (rows.empty())
    return out + fmt::format(
                     "<p class=\"how\">No budget (by {}) has runs of three sizes or loop "
                     "counts that are equal otherwise.</p>\n</section>\n",
                     escape_html(json_text(isoflop, "budgets")));
  out += fmt::format(
      "<p class=\"how\">At every budget (by {}) a parabola of the loss in the "
      "logarithm of the size, without any law; its lowest point is the best "
      "size.</p>\n",
      escape_html(json_text(isoflop, "budgets")));
  if (!exponents.empty()) out += "<ul class=\"fine\">\n" + exponents + "</ul>\n";
  return out + "<details><summary>The parabolas in numbers</summary>\n" +
         html_table(columns, rows) + "</details>\n</section>\n";
}

std::string law_comparison_section(const Json& fit) {
  std::string out;
  std::vector<std::vector<std::string>> rows;
  for (const auto& law : json_list(fit, "comparison"))
    rows.push_back({escape_html(json_text(law, "law")),
                    number_cell(json_number(law, "free_parameters"), "{:.0f}"),
                    number_cell(json_number(law, "rmse_nats"), "{:.4f}"),
                    number_cell(json_number(law, "holdout_rmse_nats"), "{:.4f}"),
                    number_cell(json_number(law, "left_out_rmse_nats"), "{:.4f}"),
                    number_cell(json_number(law, "objective")),
                    number_cell(json_number(law, "aic"), "{:.1f}"),
                    number_cell(json_number(law, "bic"), "{:.1f}")});
  std::vector<TableColumn> columns = {
      {"law", "", false, ""},
      {"free parameters", "", true, ""},
      {"RMSE", "Of the rows it was fitted to.", true, "nats"},
      {"RMSE held out", "", true, "nats"},
      {"RMSE cells left out", "Each cell predicted by a fit to the others.", true, "nats"},
      {"objective", "", true, ""},
      {"AIC", "Akaike's criterion; only differences mean something.", true, ""},
      {"BIC", "Bayesian criterion; only differences mean something.", true, ""}};
  if (!rows.empty()) {
    drop_empty_columns(columns, rows);
    out +=
        "<section id=\"comparison\">\n<h2>Other laws on the same runs</h2>\n<p class=\"how\">Lower "
        "is better in every column. A law with more parameters always fits its own rows better; "
        "what it predicts of rows that it did not see is what counts.</p>\n" +
        html_table(columns, rows) + "</section>\n";
  }
  const Json& left = json_member(fit, "leave_one_out");
  std::vector<std::vector<std::string>> cells;
  for (const auto& cell : json_list(left, "cells"))
    cells.push_back({escape_html(json_text(cell, "cell")),
                     number_cell(json_number(cell, "points"), "{:.0f}"),
                     number_cell(json_number(cell, "rmse_nats"), "{:.4f}")});
  if (cells.empty()) return out;
  cells.push_back({"all", "", number_cell(json_number(left, "rmse_nats"), "{:.4f}")});
  return out +
         "<section id=\"left-out\">\n<h2>Cells left out</h2>\n<p class=\"how\">The law fitted "
         "without "
         "the runs of one cell, and its error on them: how it does where it has not been.</p>\n" +
         html_table(
             {{"cell left out", "", false, ""}, {"runs", "", true, ""}, {"RMSE", "", true, "nats"}},
             cells) +
         "</section>\n";
}

std::string law_search_section(const LawData& data, const Json& fit) {
  std::string facts;
  const auto add = [&](std::string_view title, const std::string& value) {
    if (!value.empty() && value != "–")
      facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", title, escape_html(value));
  };
  const Json& stop = json_member(fit, "stop");
  if (const double delta = json_number(fit, "delta"); delta > 0)
    add("objective", fmt::format("sum of Huber({:g}) of log loss: {}", delta,
                                 number_cell(json_number(fit, "objective"), "{:.6g}")));
  if (const double weight = json_number(fit, "overestimate_weight"); weight > 0 && weight != 1)
    add("weight of runs predicted too high", number_cell(weight));
  add("search ended", json_text(stop, "reason"));
  add("largest gradient", number_cell(json_number(stop, "gradient_norm"), "{:.1e}"));
  if (std::isfinite(json_number(fit, "aic")))
    add("AIC, BIC", number_cell(json_number(fit, "aic"), "{:.1f}") + ", " +
                        number_cell(json_number(fit, "bic"), "{:.1f}"));
  const Json& bootstrap = json_member(fit, "bootstrap");
  if (json_number(bootstrap, "refits") > 0) {
    const auto by = json_texts(bootstrap, "by");
    add("bootstrap resamples", by.empty() ? "rows" : "cells of " + join(by, ", "));
  }
  if (data.law.recurrent_share > 0)
    add("recurrent share",
        fmt::format("{:.3f} of the parameters (median)", data.law.recurrent_share));
  for (const auto& range : data.law.ranges)
    if (range.high != 0 &&
        (data.law.form.uses(range.column) || range.column == "flops" || range.column == "loss"))
      add(escape_html(range.column),
          fmt::format("{:.4g} … {:.4g} among the fitted rows", range.low, range.high));
  std::vector<std::string> names;
  for (const auto& note : json_texts(fit, "notes"))
    if (note.find(" is taken as ") != std::string::npos) names.push_back(note);
  add("columns", join(names, "; "));
  std::string out = "<section id=\"search\">\n<h2>How it was found</h2>\n";
  if (!facts.empty()) out += "<dl class=\"facts\">\n" + facts + "</dl>\n";
  if (const auto form = json_text(fit, "form"); !form.empty())
    out += fmt::format(
        "<details><summary>The law as a file, to start another from</summary>\n"
        "<pre>{}</pre></details>\n",
        escape_html(form));
  return out + "</section>\n";
}

}  // namespace rondo
