// Mutated recipes: whatever the bytes are, reading ends in a config or in an Error of a line or
// two.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "config/recipe.h"

namespace rondo {
namespace {

/// Draws for one mutated text.
class Mutator {
 public:
  explicit Mutator(std::uint64_t which) : stream_(3, "fuzz", which) {}

  std::string mutate(std::string text) {
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(text);
    return text;
  }
  std::size_t below(std::size_t bound) { return stream_.below(bound, at_++); }

 private:
  void edit(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(text.size() - at, below(30));
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size() + 1), length));
        break;
      case 3:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, piece());
    }
  }

  std::string piece() {
    static const std::vector<std::string> kPieces = {"[",
                                                     "]",
                                                     "[[",
                                                     "{",
                                                     "}",
                                                     "\"",
                                                     "\"\"\"",
                                                     "'''",
                                                     "=",
                                                     ".",
                                                     "\n",
                                                     "\r",
                                                     "#",
                                                     "\\u",
                                                     "inf",
                                                     "nan",
                                                     "-1",
                                                     "0x",
                                                     "1e999",
                                                     "1e-999",
                                                     ",",
                                                     "[model]",
                                                     "seed",
                                                     "true",
                                                     "1979-05-27T07:32:00Z",
                                                     "\xC3",
                                                     "\xEF\xBB\xBF",
                                                     "99999999999999999999",
                                                     "9223372036854775807",
                                                     "-9223372036854775808",
                                                     "\\n",
                                                     "\"a\\nb\"=1\n",
                                                     "."};
    return kPieces[below(kPieces.size())];
  }

  RandomStream stream_;
  std::uint64_t at_ = 0;
};

/// Reads; what is read must be written and read again, what is refused must have a proper message.
/// Anything but an Error escapes and fails the test.
bool reads(const std::string& text, const Overrides& overrides = {}) {
  try {
    const std::string written = to_toml(parse_recipe(text, "f.toml", overrides));
    EXPECT_EQ(to_toml(parse_recipe(written, "again.toml")), written);
    return true;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_LT(message.size(), 1000U) << message;
    EXPECT_LE(std::count(message.begin(), message.end(), '\n'), 1) << message;
    EXPECT_EQ(invalid_utf8(message), std::nullopt) << message;
    return false;
  }
}

TEST(Fuzz, MutatedRecipes) {
  const std::string base = to_toml(Config());
  int read = 0;
  for (std::uint64_t i = 0; i < 6000; ++i) read += reads(Mutator(i).mutate(base)) ? 1 : 0;
  EXPECT_GT(read, 50);
  EXPECT_LT(read, 5000);
}

TEST(Fuzz, MutatedShortRecipes) {
  for (std::uint64_t i = 0; i < 20000; ++i)
    reads(Mutator(1000000 + i).mutate("seed = 3\n[model]\ninit = \"scaled\"\nd_ff = 7\n"));
}

TEST(Fuzz, MutatedOverrides) {
  const std::vector<std::string> bases = {"train.steps=100", "train.betas=[0.9, 0.95]",
                                          "model.init=scaled", "data.path=\"a b\"", "size=xs"};
  for (std::uint64_t i = 0; i < 10000; ++i) {
    Mutator mutator(2000000 + i);
    reads("", {mutator.mutate(bases[mutator.below(bases.size())])});
  }
}

TEST(Fuzz, RandomBytes) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Mutator mutator(3000000 + i);
    std::string text(mutator.below(60), ' ');
    for (char& c : text) c = static_cast<char>(mutator.below(256));
    reads(text);
  }
}

}  // namespace
}  // namespace rondo
