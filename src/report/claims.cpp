// Judged claims as HTML and as rows.
#include "report/claims.h"

#include "base/error.h"
#include "report/html.h"

namespace rondo {
namespace {

std::string verdict_cell(Verdict verdict) {
  const char* mark = verdict == Verdict::kReproduced      ? "✓ "
                     : verdict == Verdict::kNotReproduced ? "✗ "
                                                          : "– ";
  return mark + std::string(word(verdict)) + ":";
}

}  // namespace

ClaimCount count_claims(std::span<const Judgement> claims) {
  ClaimCount count;
  for (const auto& judged : claims) {
    count.reproduced += judged.verdict == Verdict::kReproduced ? 1 : 0;
    count.testable += judged.verdict == Verdict::kNotTestable ? 0 : 1;
  }
  return count;
}

std::string claims_section(std::span<const Judgement> claims, std::string_view numbers) {
  std::string out = fmt::format(
      "<section id=\"claims\">\n<h2>Claims</h2>\n<p class=\"how\">Every rule is part of the "
      "program and was fixed before these models were trained. {}</p>\n<dl>\n",
      escape_html(numbers));
  for (const auto& judged : claims)
    out += fmt::format("<dt><b>{}</b> {}</dt>\n<dd class=\"fine\">{} Here: {}.</dd>\n",
                       verdict_cell(judged.verdict), escape_html(judged.claim.claim),
                       escape_html(judged.claim.rule), escape_html(judged.why));
  return out + "</dl>\n</section>\n";
}

DataTable claims_data(std::span<const Judgement> claims) {
  DataTable data;
  data.columns = {"claim", "verdict", "says", "rule", "why"};
  for (const auto& judged : claims)
    data.rows.push_back({judged.claim.name, std::string(word(judged.verdict)), judged.claim.claim,
                         judged.claim.rule, judged.why});
  return data;
}

}  // namespace rondo
