// Token shards: writing, reading back, and everything a reader must refuse.
#include "data/shards.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "data/corpus.h"
#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::all_tokens;
using testing::contains;
using testing::error_of;
using testing::TempFolder;
using testing::WideTokenizer;

/// Writes the ids as documents that each end with the separator, and returns the shards.
std::vector<fs::path> write_shards(const fs::path& folder, const Tokenizer& tokenizer,
                                   const std::vector<std::vector<std::int32_t>>& documents,
                                   unsigned width = 0, std::uint64_t shard_tokens = 1'000'000) {
  ShardWriter writer(folder, "t", tokenizer, width, shard_tokens);
  for (std::vector<std::int32_t> ids : documents) {
    const std::uint64_t bytes = ids.size();
    ids.push_back(tokenizer.separator());
    writer.add(ids);
    writer.end_document(bytes);
  }
  return writer.finish();
}

/// A valid shard of bytes in memory, to be damaged.
std::string good_shard() {
  const TempFolder folder;
  return read_file(write_shards(folder.path(), *open_tokenizer("bytes"), {{97, 98}, {99}}).front());
}

std::string error_of_shard(const std::string& content) {
  const TempFolder folder;
  const fs::path file = folder.write("x.rondo", content);
  return error_of([&] { open_shards({file}, *open_tokenizer("bytes")); });
}

template <typename Number>
std::string patched(std::string content, std::size_t offset, Number value) {
  std::memcpy(content.data() + offset, &value, sizeof value);
  return content;
}

TEST(Shards, RoundTripAtEveryWidth) {
  for (const std::int64_t vocab : {256, 257, 65536, 65537}) {
    for (const unsigned width : {0u, 4u}) {
      const TempFolder folder;
      const WideTokenizer tokenizer(vocab);
      const auto top = static_cast<std::int32_t>(vocab - 2);
      const auto files = write_shards(folder.path(), tokenizer, {{1, top, 3}, {4}, {5, 6}}, width);
      ASSERT_EQ(files.size(), 1u);
      EXPECT_EQ(open_shard(files[0]).header.token_width, width == 0 ? token_width(vocab) : width);
      const auto store = open_shards(files, tokenizer);
      const std::int32_t end = top + 1;
      EXPECT_EQ(all_tokens(*store), (std::vector<std::int32_t>{1, top, 3, end, 4, end, 5, 6, end}));
      EXPECT_EQ(store->documents(), 3u);
      EXPECT_EQ(store->document(1).start, 4u);
      EXPECT_EQ(store->document(2).bytes, 2u);
      EXPECT_EQ(store->text_bytes(), 6u);
      verify_shard(files[0]);
    }
  }
}

TEST(Shards, SeveralShardsAreOneStream) {
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  const auto files = write_shards(folder.path(), *tokenizer, {{1, 2}, {3}, {4, 5}, {6}}, 0, 4);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].filename(), "t-00001.rondo");
  EXPECT_EQ(shard_files(folder.path()), files);
  const auto store = open_shards(files, *tokenizer);
  EXPECT_EQ(all_tokens(*store), (std::vector<std::int32_t>{1, 2, 0, 3, 0, 4, 5, 0, 6, 0}));
  EXPECT_EQ(store->document(2).start, 5u);
  std::vector<std::int32_t> across(4);
  store->read(3, across);
  EXPECT_EQ(across, (std::vector<std::int32_t>{3, 0, 4, 5}));
}

TEST(Shards, AMissingShardOfASetIsAnError) {
  const TempFolder folder;
  const auto files = write_shards(folder.path(), *open_tokenizer("bytes"), {{1}, {2}, {3}}, 0, 1);
  fs::remove(files[1]);
  EXPECT_TRUE(contains(error_of([&] { shard_files(folder.path()); }),
                       "t-00000.rondo: is shard 0 of a set of 3, but number 0 of 2"));
}

TEST(Shards, IdsOutsideTheVocabularyAreRefusedAtWriteTime) {
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  for (const std::int32_t id : {256, -1}) {
    const std::string message = error_of([&] {
      write_shards(folder.path(), *tokenizer, {{1}, {2, id}});
    });
    EXPECT_TRUE(contains(message, fmt::format("token id {} is outside the vocabulary of 256", id)));
  }
  EXPECT_TRUE(fs::is_empty(folder.path())) << "a failed writer leaves nothing behind";
}

TEST(Shards, AWidthTooSmallForTheVocabularyIsRefused) {
  const TempFolder folder;
  EXPECT_EQ(
      error_of([&] { write_shards(folder.path(), WideTokenizer(65537), {{1}}, 2); }),
      "2 byte(s) per token cannot hold the 65537 ids of tokenizer \"wide-65537\"; expected 4 or "
      "more");
  EXPECT_TRUE(contains(error_of([&] { write_shards(folder.path(), WideTokenizer(300), {{1}}, 3); }),
                       "expected 1, 2 or 4"));
}

TEST(Shards, AFolderWithShardsIsNotWrittenTo) {
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  write_shards(folder.path(), *tokenizer, {{1}});
  EXPECT_TRUE(contains(error_of([&] { write_shards(folder.path(), *tokenizer, {{1}}); }),
                       "already holds token shards (t-00000.rondo)"));
}

TEST(Shards, NothingToWriteIsAnError) {
  const TempFolder folder;
  EXPECT_TRUE(contains(error_of([&] { write_shards(folder.path(), *open_tokenizer("bytes"), {}); }),
                       "no document"));
}

TEST(Shards, AnotherVocabularyIsRefused) {
  const TempFolder folder;
  const auto files = write_shards(folder.path(), WideTokenizer(300), {{1}});
  const std::string message = error_of([&] { open_shards(files, *open_tokenizer("bytes")); });
  EXPECT_TRUE(contains(message, "was packed with another vocabulary (300 ids"));
  EXPECT_TRUE(contains(message, "tokenizer \"bytes\" (256 ids"));
}

TEST(Shards, DamagedHeadersAreRefused) {
  const std::string good = good_shard();
  const auto error = [](const std::string& content) { return error_of_shard(content); };
  EXPECT_TRUE(contains(error(""), "shorter than the header"));
  EXPECT_TRUE(contains(error(good.substr(0, 127)), "127 bytes, shorter than the header of 128"));
  EXPECT_TRUE(contains(error(patched(good, 0, 'X')), "is not a token shard"));
  EXPECT_TRUE(contains(error(patched<std::uint32_t>(good, 8, 2)), "version 2; this program reads"));
  EXPECT_TRUE(contains(error(patched<std::uint32_t>(good, 12, 3)), "3 bytes per token"));
  EXPECT_TRUE(contains(error(patched<std::uint64_t>(good, 16, 2)), "contradicts its header"));
  EXPECT_TRUE(contains(error(patched<std::uint64_t>(good, 16, 9)), "do not fit its header"));
  EXPECT_TRUE(contains(error(patched(good, 16, ~std::uint64_t{0})), "do not fit its header"));
  EXPECT_TRUE(contains(error(patched(good, 24, std::uint64_t{1} << 60)), "do not fit its header"));
  EXPECT_TRUE(contains(error(patched<std::uint64_t>(good, 32, 1)), "contradicts its header"));
  EXPECT_TRUE(contains(error(patched<std::uint64_t>(good, 40, 257)), "a vocabulary of 257 ids"));
  EXPECT_TRUE(contains(error(patched<std::uint64_t>(good, 40, 0)), "a vocabulary of 0 ids"));
  EXPECT_TRUE(contains(error(patched<std::uint32_t>(good, 52, 1)), "shard 1 of 1"));
  EXPECT_TRUE(contains(error(patched(good, 64, '\0')), "another vocabulary"));
}

TEST(Shards, AShardCutShortIsRefusedWhereverItIsCut) {
  const std::string good = good_shard();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(error_of_shard(good.substr(0, size)).empty()) << size;
  EXPECT_TRUE(contains(error_of_shard(good + "x"), "do not fit its header"));
}

TEST(Shards, DamagedTokensAreFoundOnReading) {
  const TempFolder folder;
  const WideTokenizer tokenizer(300);
  const auto files = write_shards(folder.path(), tokenizer, {{1, 2, 3}});
  folder.write(files[0], patched<std::uint16_t>(read_file(files[0]), 128 + 2, 300));
  const auto store = open_shards(files, tokenizer);
  std::vector<std::int32_t> tokens(2);
  EXPECT_TRUE(contains(error_of([&] { store->read(0, tokens); }),
                       "holds token id 300; expected ids below the vocabulary of 300"));
  store->read(2, tokens);
  EXPECT_TRUE(contains(error_of([&] { verify_shard(files[0]); }), "does not match the hash"));
}

TEST(Shards, ReadingPastTheEndIsAnError) {
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  const auto store = open_shards(write_shards(folder.path(), *tokenizer, {{1, 2, 3}}), *tokenizer);
  std::vector<std::int32_t> tokens(3);
  store->read(1, tokens);
  EXPECT_TRUE(contains(error_of([&] { store->read(2, tokens); }),
                       "tokens 2 to 5 were asked for, past the end of data with 4"));
  EXPECT_FALSE(error_of([&] { store->read(~std::uint64_t{0}, tokens); }).empty());
  EXPECT_FALSE(error_of([&] { (void)store->document(1); }).empty());
}

TEST(Shards, CountsAre64Bit) {
  // Five billion tokens, two documents: a sparse file that takes no room on the disk.
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  std::string header =
      read_file(write_shards(folder.path(), *tokenizer, {{1}}).front()).substr(0, 128);
  constexpr std::uint64_t kTokens = 5'000'000'000, kSecond = 4'999'999'996;
  header = patched(header, 16, kTokens);
  header = patched<std::uint64_t>(header, 24, 2);
  header = patched(header, 32, kTokens - 2);
  const DocumentRecord records[] = {{0, kSecond - 1}, {kSecond, 3}};
  const std::array<char, 4> tail = {'e', 'n', 'd', 0};
  const fs::path file = folder.path() / "big.rondo";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  bool written = ::pwrite(descriptor, header.data(), 128, 0) == 128;
  written = written && ::pwrite(descriptor, tail.data(), 4, 128 + kSecond) == 4;
  written =
      written && ::pwrite(descriptor, records, sizeof records, 128 + kTokens) == sizeof records;
  ::close(descriptor);
  if (!written) GTEST_SKIP() << "no sparse file of 5 GB can be made here";
  const auto store = open_shards({file}, *tokenizer);
  EXPECT_EQ(store->size(), kTokens);
  EXPECT_EQ(store->document(1).start, kSecond);
  std::vector<std::int32_t> tokens(4);
  store->read(kSecond, tokens);
  EXPECT_EQ(tokens, (std::vector<std::int32_t>{'e', 'n', 'd', 0}));
}

}  // namespace
}  // namespace rondo
