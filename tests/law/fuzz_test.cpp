// Damaged tables and conditions end in a table or in an Error, never in a crash or a hang.
#include "tests/reference/fuzz.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/rng.h"
#include "law/jsonl.h"
#include "law/read_table.h"

namespace rondo {
namespace {

/// One of the usual accidents, several times over, with a taste for characters that mean something.
std::string mutate(std::string text, const RandomStream& random) {
  constexpr std::string_view kSpecial = "\"\\,\t\r\n{}[]:'`()<>=!+-.eE0123456789 \xFF\xC3";
  std::uint64_t at = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(random.below(std::max<std::size_t>(bound, 1), at++));
  };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t place = below(text.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(text.size() - place, 16));
    switch (below(6)) {
      case 0:
        text[place] = static_cast<char>(text[place] ^ (1 << below(8)));
        break;
      case 1:
      case 2:
        text[place] = kSpecial[below(kSpecial.size())];
        break;
      case 3:
        text.erase(place, length);
        break;
      case 4:
        text.insert(place, text.substr(place, length));
        break;
      default:
        text.resize(place);
    }
  }
  return text;
}

/// The mutations above, always the same ones.
template <typename Parse>
int fuzz(const std::string& good, int rounds, Parse&& parse) {
  return reference::fuzz(good, rounds, 7, mutate, parse);
}

const std::string kCsv =
    "\xEF\xBB\xBFname,n_once,N_rec,loops,r_bwd,tokens,\"val loss\"\r\n"
    "\"a \"\"b\"\",\nc\",1e8,2e7,4,2,3e9,3.25\r\nd,+1e8,0,1,1,16e+9,2.5\r\n\n";
const std::string kJsonl =
    "{\"params\": 1e8, \"D\": 2e9, \"val_loss\": 3.5, \"note\": \"\\u00e9 \\ud83d\\ude00\\n\"}\n"
    "{\"params\": 2e8, \"D\": 4e9, \"val_loss\": NaN, \"ok\": true, \"gone\": null}\n";

TEST(Fuzz, Csv) {
  for (const bool skip_bad : {false, true}) {
    const int refused = fuzz(kCsv, 8000, [&](const std::string& text) {
      const FitTable table = parse_table(text, "t.csv", {.skip_bad = skip_bad});
      for (const auto& column : table.columns)
        if (column.values.size() != table.rows()) ADD_FAILURE() << text;
    });
    EXPECT_GT(refused, 2000);
    EXPECT_LT(refused, 7900);
  }
}

TEST(Fuzz, Jsonl) {
  const int refused = fuzz(kJsonl, 8000, [&](const std::string& text) {
    parse_table(text, "t.jsonl", {.skip_bad = true});
  });
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 7900);
}

TEST(Fuzz, JsonlAgreesWithTheJsonLibrary) {
  const std::string good =
      "{\"a\": 1.5e-3, \"b\": \"x \\u00e9\\ud83d\\ude00\\\"\\/\", \"c\": -0, \"d\": "
      "true,\"e\":null}";
  int accepted = 0;
  fuzz(good, 8000, [&](const std::string& text) {
    if (text.find('\n') != std::string::npos || text.starts_with("\xEF")) return;
    const auto value = nlohmann::ordered_json::parse(text, nullptr, false);
    bool ours = true;
    RawTable table;
    try {
      table = read_jsonl(text, "t");
    } catch (const Error&) {
      ours = false;
    }
    bool theirs = value.is_object() && text.find("\\u0000") == std::string::npos &&
                  std::none_of(value.begin(), value.end(),
                               [](const auto& item) { return item.is_structured(); });
    // The library keeps one of two equal keys.
    const auto members = static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
    if (theirs && !ours && value.size() < members) return;
    EXPECT_EQ(ours, theirs) << text;
    if (!ours || !theirs) return;
    ++accepted;
    for (std::size_t i = 0; i < table.names.size(); ++i) {
      const auto& item = value.at(table.names[i]);
      const std::string& cell = table.cells[0][i];
      if (item.is_string()) {
        EXPECT_EQ(cell, item.get<std::string>()) << text;
      } else if (item.is_number() && parse_number(cell)) {
        EXPECT_EQ(*parse_number(cell), item.get<double>()) << text;
      }
    }
  });
  EXPECT_GT(accepted, 200);
}

TEST(Fuzz, Conditions) {
  const FitTable table =
      parse_table("n,tokens,loss,model,Model Size\n1,2,3,x,4\n5,6,7,y,8\n", "t.csv", {});
  const std::string good =
      "(loss < 3.5 and `Model Size` >= 4) or model == \"x\" or model != 'y' and n <= 1e3";
  const int refused = fuzz(good, 8000, [&](const std::string& text) {
    const RowSplit split = split_rows(table, text);
    EXPECT_EQ(split.holds.size() + split.fails.size(), table.rows());
  });
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 7900);
}

TEST(Fuzz, Mappings) {
  fuzz("loss=final_loss", 2000, [](const std::string& text) {
    const auto equals = std::min(text.find('='), text.size());
    const std::string theirs = equals < text.size() ? text.substr(equals + 1) : "";
    parse_table("n,tokens,final_loss,loss\n1,2,3,4\n", "t.csv",
                {.columns = {{text.substr(0, equals), theirs}}});
  });
}

}  // namespace
}  // namespace rondo
