// Tables to files, claims to JSON and to the terminal.
#include "cli/reproduce_parts.h"

#include <nlohmann/json.hpp>

namespace rondo {

/// Writes a table as CSV and returns its entry in `tables[]`.
Json write_table(const fs::path& folder, const std::string& name, const DataTable& data) {
  const auto path = folder / (name + ".csv");
  write_file_atomically(path, to_csv(data));
  return {{"name", name}, {"path", path.string()}, {"rows", data.rows.size()}};
}

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

}  // namespace rondo
