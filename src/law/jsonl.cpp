// A parser of flat JSON objects. The JSON library would refuse NaN, which many logs hold, where the
// row should be named and can be left out; and it would keep only one of two equal keys.
#include "law/jsonl.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace rondo {
namespace {

void append_utf8(std::string& out, unsigned code) {
  const auto add = [&](unsigned byte) { out += static_cast<char>(byte); };
  const auto rest = [&](unsigned shift) { add(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80U) {
    add(code);
  } else if (code < 0x800U) {
    add(0xC0U | (code >> 6U));
    rest(0);
  } else if (code < 0x10000U) {
    add(0xE0U | (code >> 12U));
    rest(6);
    rest(0);
  } else {
    add(0xF0U | (code >> 18U));
    rest(12);
    rest(6);
    rest(0);
  }
}

/// Reads one line. `where` is its file and number.
class FlatObject {
 public:
  FlatObject(std::string_view line, const std::string& name, std::size_t number)
      : line_(line), name_(name), number_(number) {}

  /// Calls take(key, cell) for each member in turn.
  template <typename Take>
  void read(Take&& take) {
    skip_blanks();
    if (!accept('{')) wrong("not a JSON object");
    skip_blanks();
    if (!accept('}')) {
      do {
        skip_blanks();
        if (!accept('"')) wrong("no key in quotes");
        const std::string key = string();
        skip_blanks();
        if (!accept(':')) wrong("no : after a key");
        skip_blanks();
        take(key, value(key));
        skip_blanks();
      } while (accept(','));
      if (!accept('}')) wrong("no , or } after a value");
    }
    skip_blanks();
    if (at_ < line_.size()) wrong("text after the object");
  }

 private:
  [[noreturn]] void wrong(std::string_view what) const {
    fail("{}:{}: character {}: {}; expected one flat JSON object per line", name_, number_, at_ + 1,
         what);
  }

  [[nodiscard]] char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
  }

  std::string value(const std::string& key) {
    if (accept('"')) return string();
    if (peek() == '{' || peek() == '[')
      fail("{}:{}: {} is {}; expected a number or a string (one flat object per line)", name_,
           number_, one_line(key, 40), peek() == '{' ? "an object" : "a list");
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {
        {{"null", ""},
         {"true", "true"},
         {"false", "false"},
         {"NaN", "nan"},
         {"Infinity", "inf"},
         {"-Infinity", "-inf"}}};
    for (const auto& [word, cell] : kWords) {
      if (!line_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return std::string(cell);
    }
    return number();
  }

  std::size_t skip_digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - start;
  }

  std::string number() {
    const std::size_t start = at_;
    accept('-');
    if (!accept('0') && skip_digits() == 0) wrong("no JSON value");
    if (accept('.') && skip_digits() == 0) wrong("no digit after the point");
    if (accept('e') || accept('E')) {
      if (!accept('+')) accept('-');
      if (skip_digits() == 0) wrong("no digit in the exponent");
    }
    return std::string(line_.substr(start, at_ - start));
  }

  unsigned hex4() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
      const auto digit = kDigits.find(peek());
      if (digit == std::string_view::npos) wrong("\\u without four hex digits");
      code = code * 16 + static_cast<unsigned>(digit < 16 ? digit : digit - 6);
    }
    return code;
  }

  unsigned escaped_code() {
    const unsigned code = hex4();
    if (code == 0) wrong("\\u0000");
    if (code < 0xD800U || code > 0xDFFFU) return code;
    if (code > 0xDBFFU || !accept('\\') || !accept('u')) wrong("half of a surrogate pair");
    const unsigned low = hex4();
    if (low < 0xDC00U || low > 0xDFFFU) wrong("half of a surrogate pair");
    return 0x10000U + ((code - 0xD800U) << 10U) + (low - 0xDC00U);
  }

  /// The rest of a string whose opening quote has been read.
  std::string string() {
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    std::string out;
    while (!accept('"')) {
      if (at_ >= line_.size()) wrong("a string without its closing quote");
      if (static_cast<unsigned char>(peek()) < 0x20U) wrong("a control character in a string");
      if (!accept('\\')) {
        out += line_[at_++];
      } else if (accept('u')) {
        append_utf8(out, escaped_code());
      } else {
        const auto escape = kEscapes.find(peek());
        if (at_ >= line_.size() || escape == std::string_view::npos) wrong("an unknown escape");
        out += kMeanings[escape];
        ++at_;
      }
    }
    return out;
  }

  std::string_view line_;
  const std::string& name_;
  std::size_t number_;
  std::size_t at_ = 0;
};

}  // namespace

RawTable read_jsonl(std::string_view text, const std::string& name) {
  text = checked_text(text, name);
  constexpr std::size_t kMostColumns = 10000;  // more are keys gone wrong, and cost rows x columns
  RawTable table{.files = {name}};
  std::unordered_map<std::string, std::size_t> places;
  std::size_t number = 0, blank = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (is_blank(line)) {
      if (blank == 0) blank = number;
      continue;
    }
    require(blank == 0, "{}:{}: a blank line between rows; remove it", name, blank);
    std::vector<std::string> cells(table.names.size());
    std::vector<bool> seen(table.names.size());
    FlatObject(line, name, number).read([&](const std::string& key, std::string cell) {
      const auto [at, is_new] = places.emplace(key, table.names.size());
      if (is_new) {
        table.names.push_back(key);
        require(table.names.size() <= kMostColumns,
                "{}:{}: more than {} different keys; expected "
                "the same keys in every line",
                name, number, kMostColumns);
        cells.emplace_back();
        seen.push_back(false);
      }
      require(!seen[at->second], "{}:{}: {} is there twice; expected each key once", name, number,
              one_line(key, 40));
      seen[at->second] = true;
      cells[at->second] = std::move(cell);
    });
    table.origins.push_back({0, number});
    table.cells.push_back(std::move(cells));
  }
  for (auto& cells : table.cells) cells.resize(table.names.size());
  return table;
}

}  // namespace rondo
