// The table of published and refitted numbers as CSV, Markdown and JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/published.h"

namespace rondo {
namespace {

std::string digits(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

std::string digits(const std::optional<double>& value) { return value ? digits(*value) : ""; }

std::string short_digits(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string verdict(const PublishedRow& row) {
  const auto agrees = row.agrees();
  return !agrees ? "" : *agrees ? "yes" : "no";
}

double difference(const PublishedRow& row) {
  return row.published ? row.refitted - *row.published : std::nan("");
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(); }

}  // namespace

std::optional<bool> PublishedRow::agrees() const {
  if (!published) return std::nullopt;
  return !by().empty();
}

std::string PublishedRow::by() const {
  if (!published || !std::isfinite(refitted)) return "";
  // Numbers are printed with fewer digits than they have: the last one may not decide.
  const double rounding = 1e-9 * std::abs(*published);
  if (tolerance && std::abs(refitted - *published) <= *tolerance + rounding) return "tolerance";
  if (interval && interval->first <= *published && *published <= interval->second)
    return "interval";
  return "";
}

std::string agreement_rule() {
  return "agrees = yes when |refitted - published| is at most the row's tolerance, or the "
         "published "
         "number lies inside the 95 % interval of the refits; tolerances are written into the "
         "source beside the published numbers and do not depend on the fit";
}

std::string to_csv(const PublishedTable& table) {
  std::string out =
      "study,rows,law,parameter,published,refitted,low,high,difference,tolerance,agrees,by,note\n";
  for (const auto& row : table.rows)
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(row.study), row.rows,
                       quoted(row.law), quoted(row.parameter), digits(row.published),
                       digits(row.refitted), row.interval ? digits(row.interval->first) : "",
                       row.interval ? digits(row.interval->second) : "", digits(difference(row)),
                       digits(row.tolerance), verdict(row), row.by(), quoted(row.note));
  return out;
}

std::string to_markdown(const PublishedTable& table) {
  std::string out = "# Published laws, fitted again\n\nWritten by `rondo reproduce laws`. Rule: " +
                    agreement_rule() + ". An empty cell: there is no such number.\n";
  std::string study;
  for (const auto& row : table.rows) {
    if (row.study != study) {
      study = row.study;
      out += fmt::format(
          "\n## {}\n\n| law | rows | parameter | published | refitted | 95 % interval | difference "
          "| "
          "agrees | note |\n|---|---|---|---|---|---|---|---|---|\n",
          study);
    }
    const auto interval = row.interval ? fmt::format("{} … {}", short_digits(row.interval->first),
                                                     short_digits(row.interval->second))
                                       : "";
    out += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.law, row.rows, row.parameter,
        digits(row.published), std::isfinite(row.refitted) ? digits(row.refitted) : "–", interval,
        row.published ? short_digits(difference(row)) : "",
        row.by().empty() ? verdict(row) : fmt::format("yes ({})", row.by()), row.note);
  }
  if (!table.skipped.empty()) out += "\n## Skipped\n\n";
  for (const auto& skipped : table.skipped) out += "- " + skipped + "\n";
  return out;
}

Json to_json(const PublishedTable& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    const auto agrees = row.agrees();
    rows.push_back(
        {{"study", row.study},
         {"rows", row.rows},
         {"law", row.law},
         {"parameter", row.parameter},
         {"published", number(row.published)},
         {"refitted", number(row.refitted)},
         {"interval",
          row.interval ? Json{number(row.interval->first), number(row.interval->second)} : Json()},
         {"difference", number(difference(row))},
         {"tolerance", number(row.tolerance)},
         {"agrees", agrees ? Json(*agrees) : Json()},
         {"by", row.by()},
         {"note", row.note}});
  }
  return {{"rule", agreement_rule()}, {"rows", rows}, {"skipped", table.skipped}};
}

}  // namespace rondo
