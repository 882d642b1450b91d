// The bytes tokenizer and the seam for others.
#include "data/tokenizer.h"

#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::contains;
using testing::error_of;

TEST(Tokenizer, BytesAreTheirOwnIdsWithoutSpecials) {
  const auto tokenizer = open_tokenizer("bytes");
  EXPECT_EQ(tokenizer->name(), "bytes");
  EXPECT_EQ(tokenizer->vocab(), 256);
  EXPECT_EQ(tokenizer->end_of_text(), std::nullopt);
  EXPECT_EQ(tokenizer->separator(), 0);
  EXPECT_EQ(tokenizer->encode("A\xC3\xA9\n"), (std::vector<std::int32_t>{65, 0xC3, 0xA9, 10}));
  EXPECT_TRUE(tokenizer->encode("").empty());
}

TEST(Tokenizer, BytesDecodeAnySequence) {
  const auto tokenizer = open_tokenizer("bytes");
  std::vector<std::int32_t> ids;
  std::string expected;
  for (int id = 255; id >= 0; --id) {
    ids.push_back(id);
    expected += static_cast<char>(id);
  }
  EXPECT_EQ(tokenizer->decode(ids), expected);
  EXPECT_EQ(tokenizer->encode(expected), ids);
  const std::vector<std::int32_t> above = {256}, below = {-1};
  EXPECT_TRUE(contains(error_of([&] { (void)tokenizer->decode(above); }), "256 is not an id"));
  EXPECT_TRUE(contains(error_of([&] { (void)tokenizer->decode(below); }), "-1 is not an id"));
}

TEST(Tokenizer, TheSeparatorCountsOneByteWhateverTheVocabulary) {
  const auto bytes = open_tokenizer("bytes");
  const testing::WideTokenizer wide(1000);
  EXPECT_EQ(bytes->stream_bytes(0), 1);
  EXPECT_EQ(bytes->stream_bytes('a'), 1);
  EXPECT_EQ(wide.separator(), 999);
  EXPECT_EQ(wide.text_bytes(999), 0);
  EXPECT_EQ(wide.stream_bytes(999), 1);
}

TEST(Tokenizer, HashIsStable) {
  // Shards on users' disks carry this hash; it must not change between versions.
  EXPECT_EQ(open_tokenizer("bytes")->vocab_hash(),
            "1c62c44b928094a3c48b90836f10062e8f767988e2fc86399895f8fa45133ca0");
}

TEST(Tokenizer, UnknownNameSaysWhatThereIs) {
  EXPECT_EQ(error_of([] { open_tokenizer("gpt5"); }),
            "tokenizer \"gpt5\": not available; expected \"bytes\"");
}

TEST(Tokenizer, LongDocumentsAreEncodedInPieces) {
  const auto tokenizer = open_tokenizer("bytes");
  std::string text(3'000'001, 'x');
  text.back() = 'y';
  std::vector<std::int32_t> ids;
  std::size_t longest = 0;
  encode_document(*tokenizer, text, "here", [&](std::span<const std::int32_t> piece) {
    longest = std::max(longest, piece.size());
    ids.insert(ids.end(), piece.begin(), piece.end());
  });
  EXPECT_LT(longest, 1'000'000u);
  ASSERT_EQ(ids.size(), text.size() + 1);
  EXPECT_EQ(ids.back(), 0);
  ids.pop_back();
  EXPECT_EQ(tokenizer->decode(ids), text);
}

TEST(Tokenizer, TextWithTheSeparatorIsRefused) {
  const auto tokenizer = open_tokenizer("bytes");
  const auto ignore = [](std::span<const std::int32_t>) {};
  const std::string message = error_of(
      [&] { encode_document(*tokenizer, std::string_view("a\0b", 3), "a.txt:1", ignore); });
  EXPECT_TRUE(contains(message, "a.txt:1: the text holds id 0"));
}

}  // namespace
}  // namespace rondo
