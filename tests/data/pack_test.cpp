// Text to shards and back.
#include "data/pack.h"

#include "base/machine.h"
#include "data/corpus.h"
#include "data/shards.h"
#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::all_tokens;
using testing::contains;
using testing::error_of;
using testing::numbered_documents;
using testing::TempFolder;

PackOptions options_for(const std::vector<fs::path>& inputs, const fs::path& out) {
  PackOptions options;
  options.inputs = inputs;
  options.out = out;
  return options;
}

TEST(Pack, ShardsHoldTheSameStreamAsTheText) {
  const TempFolder folder;
  const fs::path text = folder.write("in/a.txt", numbered_documents(30));
  const fs::path jsonl =
      folder.write("in/b.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\\n\"}\n");
  const auto tokenizer = open_tokenizer("bytes");
  PackOptions options = options_for({folder.path() / "in"}, folder.path() / "out");
  options.shard_tokens = 500;
  options.name = "mine";
  const PackResult result = pack(options, *tokenizer);
  const auto loaded = load_text({text, jsonl}, *tokenizer, "in");
  EXPECT_EQ(result.documents, 32u);
  EXPECT_EQ(result.tokens, loaded->size());
  EXPECT_EQ(result.bytes, loaded->text_bytes());
  EXPECT_EQ(result.bytes + result.documents, result.tokens);
  EXPECT_GT(result.shards.size(), 2u);
  EXPECT_EQ(result.shards.front().filename(), "mine-00000.rondo");
  const auto stored = open_shards(shard_files(options.out), *tokenizer);
  EXPECT_EQ(all_tokens(*stored), all_tokens(*loaded));
  ASSERT_EQ(stored->documents(), loaded->documents());
  for (std::uint64_t i = 0; i < stored->documents(); ++i) {
    EXPECT_EQ(stored->document(i).start, loaded->document(i).start);
    EXPECT_EQ(stored->document(i).bytes, loaded->document(i).bytes);
  }
}

TEST(Pack, IsTheSameEveryTime) {
  const TempFolder folder;
  const fs::path text = folder.write("a.txt", numbered_documents(5));
  const auto tokenizer = open_tokenizer("bytes");
  const auto one = pack(options_for({text}, folder.path() / "1"), *tokenizer);
  const auto two = pack(options_for({text}, folder.path() / "2"), *tokenizer);
  EXPECT_EQ(read_file(one.shards.at(0)), read_file(two.shards.at(0)));
}

TEST(Pack, ReportsItsProgress) {
  const TempFolder folder;
  const std::string text = numbered_documents(3);
  const fs::path a = folder.write("a.txt", text), b = folder.write("b.txt", text);
  PackProgress last;
  int calls = 0;
  pack(options_for({a, b}, folder.path() / "out"), *open_tokenizer("bytes"),
       [&](const PackProgress& progress) {
         EXPECT_GE(progress.bytes, last.bytes);
         EXPECT_LE(progress.bytes, progress.total_bytes);
         last = progress;
         ++calls;
       });
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(last.total_bytes, 2 * text.size());
  EXPECT_EQ(last.documents, 6u);
}

TEST(Pack, FailureLeavesNothingBehind) {
  const TempFolder folder;
  const fs::path good = folder.write("a.txt", numbered_documents(30));
  const fs::path bad = folder.write("b.txt", "fine so far\nbut \xFF not here\n");
  PackOptions options = options_for({good, bad}, folder.path() / "out");
  options.shard_tokens = 100;
  const auto tokenizer = open_tokenizer("bytes");
  EXPECT_TRUE(contains(error_of([&] { pack(options, *tokenizer); }), "b.txt:2: byte 16 (0xFF)"));
  EXPECT_TRUE(fs::is_empty(options.out));
  options.inputs = {good};
  EXPECT_EQ(error_of([&] {
              pack(options, *tokenizer, [](const PackProgress&) { fail_work("{}", "stopped"); });
            }),
            "stopped");
  EXPECT_TRUE(fs::is_empty(options.out));
}

TEST(Pack, WhatCannotBePackedIsAnError) {
  const TempFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  const auto message = [&](const std::vector<fs::path>& inputs) {
    return error_of([&] { pack(options_for(inputs, folder.path() / "out"), *tokenizer); });
  };
  EXPECT_TRUE(contains(message({}), "nothing to pack"));
  EXPECT_TRUE(contains(message({folder.path() / "none.txt"}), "no such file or folder"));
  EXPECT_TRUE(contains(message({folder.write("a.parquet", "PAR1")}), "Parquet"));
  EXPECT_TRUE(contains(message({folder.write("empty.txt", " \n")}), "no document"));
}

TEST(Pack, MemoryStaysBoundedSlow) {
  // One document of 100 MB: what is mapped can be dropped, what is held is one piece of it.
  const TempFolder folder;
  std::string line(999, 'x');
  line += '\n';
  {
    std::ofstream out(folder.path() / "a.txt", std::ios::binary);
    for (int i = 0; i < 100'000; ++i) out << line;
  }
  const auto result =
      pack(options_for({folder.path() / "a.txt"}, folder.path() / "out"), *open_tokenizer("bytes"));
  EXPECT_EQ(result.tokens, 100'000'001u);
  EXPECT_LT(peak_resident_bytes(), std::uint64_t{600} << 20);
}

}  // namespace
}  // namespace rondo
