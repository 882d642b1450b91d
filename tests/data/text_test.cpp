// Plain text and JSONL as documents.
#include "data/text.h"

#include "tests/data/support.h"

namespace rondo {
namespace {

using testing::contains;
using testing::error_of;
using testing::TempFolder;
using Documents = std::vector<std::string>;

Documents documents_of(std::string_view text) {
  Documents documents;
  split_documents(text, "a.txt", [&](std::string_view document, std::string_view) {
    documents.emplace_back(document);
  });
  return documents;
}

Documents jsonl_of(std::string_view text) {
  Documents documents;
  split_jsonl(text, "a.jsonl", [&](std::string_view document, std::string_view) {
    documents.emplace_back(document);
  });
  return documents;
}

TEST(Text, WithoutSeparatorsAFileIsOneDocument) {
  EXPECT_EQ(documents_of("one\n\ntwo"), (Documents{"one\n\ntwo"}));
}

TEST(Text, SeparatorLinesGoAndAllElseStays) {
  EXPECT_EQ(documents_of("one\n<|endoftext|>\n two \n\n<|endoftext|>\nthree"),
            (Documents{"one\n", " two \n\n", "three"}));
}

TEST(Text, OnlyAWholeLineSeparates) {
  EXPECT_EQ(documents_of("a <|endoftext|>\n<|endoftext|> b\n").size(), 1u);
  EXPECT_EQ(documents_of("<|endoftext|>x<|endoftext|>").size(), 1u);
}

TEST(Text, EmptyDocumentsAreDropped) {
  EXPECT_EQ(documents_of("<|endoftext|>\n<|endoftext|>\n \t\n\n<|endoftext|>\nx\n<|endoftext|>"),
            (Documents{"x\n"}));
  EXPECT_TRUE(documents_of("").empty());
  EXPECT_TRUE(documents_of("<|endoftext|>").empty());
}

TEST(Text, CarriageReturnsAreText) {
  EXPECT_EQ(documents_of("one\r\n<|endoftext|>\r\ntwo\r\n"), (Documents{"one\r\n", "two\r\n"}));
}

TEST(Text, AByteOrderMarkIsNotText) {
  EXPECT_EQ(documents_of("\xEF\xBB\xBFone"), (Documents{"one"}));
  EXPECT_EQ(documents_of("\xEF\xBB\xBF<|endoftext|>\nx"), (Documents{"x"}));
}

TEST(Text, DocumentsKnowTheirLine) {
  std::vector<std::string> places;
  split_documents("one\n1\n<|endoftext|>\n\n<|endoftext|>\ntwo", "a.txt",
                  [&](std::string_view, std::string_view where) { places.emplace_back(where); });
  EXPECT_EQ(places, (std::vector<std::string>{"a.txt:1", "a.txt:6"}));
}

TEST(Text, InvalidUtf8IsAnErrorWithLineAndOffset) {
  EXPECT_EQ(error_of([] { documents_of("ab\nc\xC3("); }),
            "a.txt:2: byte 4 (0xC3) is not valid UTF-8; expected UTF-8");
  EXPECT_EQ(error_of([] { documents_of("ab\n<|endoftext|>\nxy\n\xFFz\n"); }),
            "a.txt:4: byte 20 (0xFF) is not valid UTF-8; expected UTF-8");
  EXPECT_TRUE(contains(error_of([] {
                         documents_of(
                             "\xFF\xFE"
                             "a");
                       }),
                       "UTF-16"));
}

TEST(Text, ByteZeroIsAnError) {
  EXPECT_EQ(error_of([] { documents_of(std::string_view("ab\nc\0d", 6)); }),
            "a.txt:2: byte 4 (0x00) is not part of any text; expected UTF-8");
}

TEST(Text, JsonlTakesTheTextOfEveryLine) {
  EXPECT_EQ(jsonl_of("{\"text\": \"one\\n\\u00e9\", \"id\": [1, {\"text\": \"no\"}]}\n\n"
                     "{\"meta\": {\"text\": 1}, \"text\": \"two\"}\r\n{\"text\": \" \"}"),
            (Documents{"one\n\xC3\xA9", "two"}));
}

TEST(Text, JsonlErrorsNameTheLine) {
  const auto message = [](std::string_view text) { return error_of([&] { jsonl_of(text); }); };
  EXPECT_TRUE(contains(message("{\"text\": \"a\"}\n{\"text\": }\n"), "a.jsonl:2: column "));
  EXPECT_TRUE(contains(message("{\"text\": \"a"), "not JSON"));
  EXPECT_TRUE(contains(message("{\"text\": \"\\ud800\"}"), "a.jsonl:1: column"));
  EXPECT_EQ(message("\n{\"content\": \"a\"}"),
            "a.jsonl:2: no \"text\"; expected a JSON object with a string of that name");
  EXPECT_EQ(message("{\"text\": 5}"), "a.jsonl:1: \"text\" is a number; expected a string");
  EXPECT_EQ(message("{\"text\": [\"a\"]}"), "a.jsonl:1: \"text\" is an array; expected a string");
  EXPECT_EQ(message("[\"text\"]"), "a.jsonl:1: expected a JSON object with a string \"text\"");
  EXPECT_TRUE(contains(message("{\"text\": \"a\\u0000\"}"), "\\u0000"));
  EXPECT_TRUE(contains(message("{\"text\": \"a\xFF\"}"), "a.jsonl:1: byte 11 (0xFF)"));
}

TEST(Text, DeeplyNestedJsonCostsNothing) {
  const std::string deep(1'000'000, '[');
  EXPECT_TRUE(contains(error_of([&] { jsonl_of("{\"x\": " + deep); }), "not JSON"));
}

TEST(Text, AFolderIsReadInTheOrderOfItsPaths) {
  const TempFolder folder;
  folder.write("b.txt", "B");
  folder.write("a/z.md", "Z");
  folder.write("a/y.jsonl", "{\"text\": \"Y\"}\n");
  folder.write("B.txt", "capital");
  folder.write(".hidden.txt", "no");
  folder.write(".git/c.txt", "no");
  folder.write("image.png", "\xFF");
  Documents documents;
  for (const fs::path& file : text_files(folder.path()))
    read_documents(file,
                   [&](std::string_view text, std::string_view) { documents.emplace_back(text); });
  EXPECT_EQ(documents, (Documents{"capital", "Y", "Z", "B"}));
}

TEST(Text, WhatIsNotThereOrNotTextIsAnError) {
  const TempFolder folder;
  EXPECT_TRUE(contains(error_of([&] { text_files(folder.path() / "none"); }),
                       "none: no such file or folder"));
  EXPECT_TRUE(contains(error_of([&] { text_files(folder.path()); }), "holds no text"));
  const fs::path parquet = folder.write("a.parquet", "PAR1");
  EXPECT_TRUE(contains(error_of([&] { text_files(parquet); }), "Parquet cannot be read"));
  const fs::path shard = folder.write("a.rondo", "RONDOTOK");
  EXPECT_TRUE(contains(error_of([&] { text_files(shard); }), "data.source = \"tokens\""));
  EXPECT_TRUE(contains(
      error_of([] { read_documents("/dev/null", [](std::string_view, std::string_view) {}); }),
      "not a regular file"));
}

TEST(Text, AnyOtherNameIsPlainText) {
  const TempFolder folder;
  const fs::path file = folder.write("notes", "x");
  EXPECT_EQ(text_files(file), std::vector<fs::path>{file});
}

}  // namespace
}  // namespace rondo
