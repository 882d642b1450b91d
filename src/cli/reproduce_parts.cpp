// Tables to files; claims to JSON and to the terminal; the page.
#include "cli/reproduce_parts.h"

#include "base/text.h"
#include "cli/command.h"

namespace rondo {
namespace {

Json claims_json(std::span<const Judgement> claims) {
  Json list = Json::array();
  for (const auto& judged : claims)
    list.push_back({{"name", judged.claim.name},
                    {"claim", judged.claim.claim},
                    {"rule", judged.claim.rule},
                    {"verdict", word(judged.verdict)},
                    {"why", judged.why}});
  return list;
}

TextTable claims_table(std::span<const Judgement> claims) {
  TextTable text({"claim", "verdict", "why"});
  for (const auto& judged : claims)
    text.add({judged.claim.name, std::string(word(judged.verdict)), judged.why});
  return text;
}

}  // namespace

Json write_table(const fs::path& folder, const std::string& name, const DataTable& data) {
  const auto path = folder / (name + ".csv");
  write_file_atomically(path, to_csv(data));
  return {{"name", name}, {"path", path.string()}, {"rows", data.rows.size()}};
}

void finish_study(const FinishedStudy& study, bool as_json) {
  const auto path = study.out / "report.html";
  write_file_atomically(path, study.page);
  const Json json = {{"scale", study.scale},
                     {"tables", study.tables},
                     {"claims", claims_json(study.claims)},
                     {"path", path.string()}};
  write_file_atomically(study.out / (study.name + ".json"), json.dump(1) + "\n");
  if (as_json) return print_json(json);
  print_table(claims_table(study.claims));
  print_text(path.string());
}

}  // namespace rondo
