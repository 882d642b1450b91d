// Splitting, nearest words, UTF-8, numbers with units, tables.
#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace rondo {
namespace {

using Words = std::vector<std::string>;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,b,,c", ','), (Words{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), (Words{""}));
  EXPECT_EQ(split(",", ','), (Words{"", ""}));
}

TEST(Text, JoinIsTheReverseOfSplit) {
  for (const Words& words : {Words{"a"}, Words{"", ""}, Words{"", "a", ""}, Words{"a", "", "b"}})
    EXPECT_EQ(split(join(words, ","), ','), words);
  EXPECT_EQ(join(Words{}, ", "), "");
  EXPECT_EQ(join(Words{"x", "y"}, ", "), "x, y");
}

TEST(Text, NearestWord) {
  const Words words = {"train.steps", "train.batch", "model.d_ff"};
  EXPECT_EQ(nearest("train.step", words), "train.steps");
  EXPECT_EQ(nearest("trian.batch", words), "train.batch");
  EXPECT_EQ(nearest("model.dff", words), "model.d_ff");
  EXPECT_EQ(nearest("zzzzzz", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(nearest("model.d_ff", words), "model.d_ff");
}

struct Utf8Case {
  const char* what;
  std::string bytes;
  std::optional<std::size_t> bad;
};

TEST(Text, InvalidUtf8) {
  const std::vector<Utf8Case> cases = {
      {"empty", "", {}},
      {"ASCII with a zero byte", std::string("a\0b", 3), {}},
      {"two to four bytes", "é€😀", {}},
      {"first and last of each length",
       "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
       {}},
      {"around the surrogates", "\xED\x9F\xBF\xEE\x80\x80", {}},
      {"lone continuation", "ab\x80", 2},
      {"overlong slash, two bytes", "\xC0\xAF", 0},
      {"overlong, C1", "x\xC1\xBF", 1},
      {"overlong slash, three bytes", "\xE0\x80\xAF", 0},
      {"largest overlong of three", "\xE0\x9F\xBF", 0},
      {"overlong slash, four bytes", "\xF0\x80\x80\xAF", 0},
      {"largest overlong of four", "\xF0\x8F\xBF\xBF", 0},
      {"high surrogate", "\xED\xA0\x80", 0},
      {"low surrogate", "ok\xED\xBF\xBF", 2},
      {"above U+10FFFF", "\xF4\x90\x80\x80", 0},
      {"five-byte lead", "\xF8\x88\x80\x80\x80", 0},
      {"FE", "\xFE", 0},
      {"FF", "\xFF", 0},
      {"cut after the lead", "a\xE2", 1},
      {"cut after two of three", "a\xE2\x82", 1},
      {"cut after three of four", "\xF0\x9F\x98", 0},
      {"continuation missing before ASCII", "\xE2\x82z", 0},
      {"Latin-1", "caf\xE9 au lait", 3},
      {"after good text", "é€😀\xFF", 9}};
  for (const auto& c : cases) EXPECT_EQ(invalid_utf8(c.bytes), c.bad) << c.what;
}

TEST(Text, EveryCodePointIsValid) {
  for (unsigned point = 0; point <= 0x10FFFF; point += point < 0x10000 ? 1 : 37) {
    if (point >= 0xD800 && point <= 0xDFFF) continue;
    std::string s;
    const auto add = [&](unsigned byte) { s += static_cast<char>(byte); };
    if (point < 0x80) {
      add(point);
    } else if (point < 0x800) {
      add(0xC0 | point >> 6), add(0x80 | (point & 63));
    } else if (point < 0x10000) {
      add(0xE0 | point >> 12), add(0x80 | (point >> 6 & 63)), add(0x80 | (point & 63));
    } else {
      add(0xF0 | point >> 18), add(0x80 | (point >> 12 & 63));
      add(0x80 | (point >> 6 & 63)), add(0x80 | (point & 63));
    }
    ASSERT_EQ(invalid_utf8(s), std::nullopt) << point;
  }
}

TEST(Text, OneLine) {
  EXPECT_EQ(one_line("plain é"), "plain é");
  EXPECT_EQ(one_line("a\nb\tc\x7F"), "a\\nb\\x09c\\x7f");
  EXPECT_EQ(one_line(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(one_line(std::string(81, 'x')), std::string(80, 'x') + "…");
  EXPECT_EQ(one_line("ééé", 3), "éé…");
  EXPECT_EQ(one_line(""), "");
}

TEST(Text, NumbersWithPrefixes) {
  EXPECT_EQ(si(0), "0");
  EXPECT_EQ(si(999), "999");
  EXPECT_EQ(si(1000), "1 k");
  EXPECT_EQ(si(123456), "123.5 k");
  EXPECT_EQ(si(999.96), "1 k");
  EXPECT_EQ(si(999960), "1 M");
  EXPECT_EQ(si(3411456), "3.411 M");
  EXPECT_EQ(si(-2.5e9), "-2.5 G");
  EXPECT_EQ(si(1.5e21), "1500 E");
  EXPECT_EQ(si(0.25), "0.25");
  EXPECT_EQ(si(std::nan("")), "nan");
}

TEST(Text, Bytes) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1024), "1.0 KiB");
  EXPECT_EQ(bytes(1536), "1.5 KiB");
  EXPECT_EQ(bytes(1048575), "1.0 MiB");
  EXPECT_EQ(bytes(1.3e9), "1.2 GiB");
  EXPECT_EQ(bytes(0x1p60), "1048576.0 TiB");
}

TEST(Text, Durations) {
  EXPECT_EQ(duration(0.42), "0.42 s");
  EXPECT_EQ(duration(9.9), "9.9 s");
  EXPECT_EQ(duration(12.4), "12 s");
  EXPECT_EQ(duration(59.7), "1 min 0 s");
  EXPECT_EQ(duration(125), "2 min 5 s");
  EXPECT_EQ(duration(11400), "3 h 10 min");
  EXPECT_EQ(duration(90000), "1 d 1 h");
  EXPECT_EQ(duration(1e20), "1e+20 s");
  EXPECT_EQ(duration(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(Text, ParseIntegers) {
  EXPECT_EQ(parse_integers("1,2,-4", "--loops"), (std::vector<std::int64_t>{1, 2, -4}));
  for (const char* bad : {"", "1,", "1,,2", "1.5", "a", " 1", "1 ", "0x2", "99999999999999999999"})
    EXPECT_THROW(parse_integers(bad, "--loops"), Error) << bad;
  try {
    parse_integers("1,two", "--loops");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--loops: \"two\" is not a whole number; expected a list like 1,2,4");
  }
}

TEST(TextTable, AlignsByWhatIsShown) {
  TextTable table({"name", "value", "note"});
  table.add({"é", "1", "x"});
  table.add({"longer", "12345"});
  EXPECT_EQ(table.aligned(),
            "name    value  note\n"
            "é       1      x\n"
            "longer  12345\n");
}

TEST(TextTable, TabsKeepTheirColumns) {
  TextTable table({"", "a"});
  table.add({"", "b"});
  table.add({"c"});
  EXPECT_EQ(table.tabbed(), "\ta\n\tb\nc\t\n");
}

}  // namespace
}  // namespace rondo
