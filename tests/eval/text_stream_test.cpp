// Text byte by byte: whole characters, stops, and that nothing is lost.
#include "eval/text_stream.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

constexpr const char* kMixed = "aé€𝄞 z";

TEST(TextStream, LetsOutWholeCharacters) {
  TextStream stream;
  EXPECT_EQ(stream.add("a\xC3"), "a");
  EXPECT_EQ(stream.add("\xA9"), "é");
  EXPECT_EQ(stream.add("\xF0\x9D"), "");
  EXPECT_EQ(stream.add("\x84"), "");
  EXPECT_EQ(stream.add("\x9E!"), "𝄞!");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, AnyCutGivesTheText) {
  const std::string text = kMixed;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    TextStream stream;
    auto out = stream.add(text.substr(0, cut));
    out += stream.add(text.substr(cut));
    EXPECT_EQ(out + stream.finish(), text) << cut;
  }
  TextStream stream;
  std::string out;
  for (const char byte : text) out += stream.add(std::string(1, byte));
  EXPECT_EQ(out, text);
}

TEST(TextStream, ReplacesWhatIsNotText) {
  TextStream stream;
  EXPECT_EQ(stream.add("\xC3("), "\xEF\xBF\xBD(");
  EXPECT_EQ(stream.add("\x80\xFF"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(stream.add("x\xE2\x82"), "x");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TextStream, HoldsBackWhatMayBeAStop) {
  TextStream stream({"END"});
  EXPECT_EQ(stream.add("the E"), "the ");
  EXPECT_EQ(stream.add("N"), "");
  EXPECT_EQ(stream.add("T"), "ENT");
  EXPECT_EQ(stream.add("EEN"), "E");
  EXPECT_FALSE(stream.stopped());
  EXPECT_EQ(stream.add("D and more"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.add("more"), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, TheFirstStopCounts) {
  TextStream stream({"later", "b"});
  EXPECT_EQ(stream.add("a b later"), "a ");
  EXPECT_TRUE(stream.stopped());
  TextStream beginnings({"xyz"});
  EXPECT_EQ(beginnings.add("xy"), "");
  EXPECT_EQ(beginnings.finish(), "xy");
}

}  // namespace
}  // namespace rondo
