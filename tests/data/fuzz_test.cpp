// Damaged input of every kind ends in data or in an Error, never in a crash or a hang.
#include "tests/reference/fuzz.h"

#include <algorithm>
#include <cstring>

#include "base/rng.h"
#include "data/corpus.h"
#include "data/shards.h"
#include "data/split.h"
#include "data/text.h"
#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::numbered_documents;
using testing::TempFolder;

/// One of the usual accidents: flipped bits, bytes overwritten, a piece cut out or doubled, a cut
/// end.
std::string mutate(std::string text, const RandomStream& random) {
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
        text[place] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(place, length);
        break;
      case 3:
        text.insert(place, text.substr(place, length));
        break;
      case 4:
        text.resize(place);
        break;
      default:
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(place), length,
                    static_cast<char>(below(2) == 0 ? 0xFF : 0));
    }
  }
  return text;
}

/// The mutations above, always the same ones.
template <typename Parse>
int fuzz(const std::string& good, int rounds, Parse&& parse) {
  return reference::fuzz(good, rounds, 1, mutate, parse);
}

void ignore(std::string_view, std::string_view) {}

TEST(Fuzz, Text) {
  const std::string good =
      "\xEF\xBB\xBF" + numbered_documents(5) + "caf\xC3\xA9 \xF0\x9F\x98\x80\n";
  const int refused =
      fuzz(good, 5000, [](const std::string& text) { split_documents(text, "t", ignore); });
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 4900);
}

TEST(Fuzz, Jsonl) {
  const std::string good =
      "{\"text\": \"one \\u00e9 \\ud83d\\ude00\\n\", \"n\": [1, -2.5e3, null, true, {\"a\": {}}]}\n"
      "{\"meta\": {\"text\": [\"no\"]}, \"text\": \"two caf\xC3\xA9\"}\n";
  const int refused =
      fuzz(good, 5000, [](const std::string& text) { split_jsonl(text, "t", ignore); });
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 4900);
}

TEST(Fuzz, Shards) {
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  ShardWriter writer(folder.path() / "good", "t", *tokenizer, 2, 1000);
  for (int i = 0; i < 25; ++i) {
    const std::vector<std::int32_t> ids = {'a', 'b', '\n', 'a' + i, 0};
    writer.add(ids);
    writer.end_document(4);
  }
  const std::string good = read_file(writer.finish().front());
  const auto parse = [&](const std::string& content) {
    const fs::path file = folder.write("x.rondo", content);
    const auto store = open_shards({file}, *tokenizer);
    std::vector<std::int32_t> tokens(store->size());
    store->read(0, tokens);
    split_stream(*store, *tokenizer, 0.1, "x");
  };
  EXPECT_GT(fuzz(good, 1000, parse), 200);
  // Headers alone, with bytes that matter hit every time.
  const int refused = fuzz(good.substr(0, 64), 1000, [&](const std::string& header) {
    std::string content = good;
    content.replace(0, std::min<std::size_t>(header.size(), 64), header.substr(0, 64));
    parse(content);
  });
  EXPECT_GT(refused, 500);
}

TEST(Fuzz, ValidShardsOfOddDocumentsCanBeSplit) {
  // Documents of nothing but their separator are possible in shards from elsewhere.
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  for (const int documents : {1, 5, 19, 20, 40}) {
    ShardWriter writer(folder.path() / std::to_string(documents), "t", *tokenizer, 0, 1000);
    for (int i = 0; i < documents; ++i) {
      writer.add(std::vector<std::int32_t>{0});
      writer.end_document(0);
    }
    const auto store = open_shards(writer.finish(), *tokenizer);
    try {
      const Split split = split_stream(*store, *tokenizer, 0.1, "x");
      for (const auto& ranges : {split.training, split.validation})
        for (const TokenRange& range : ranges) EXPECT_LE(range.end, store->size());
    } catch (const Error&) {
      EXPECT_LE(documents, 4);
    }
  }
}

}  // namespace
}  // namespace rondo
