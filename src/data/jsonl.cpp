// JSONL as documents: one JSON object with a string `text` per line.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "data/text.h"
#include "data/text_checks.h"

namespace rondo {
namespace {

/// Takes `text` out of an object and skips all else without building a tree, so that nesting
/// however deep costs nothing.
class TextField : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string text;
  bool found = false;
  bool is_object = false;
  std::string wrong_type;  ///< what `text` is, where it is not a string
  std::string syntax;      ///< what is wrong with the line, where it is not JSON
  std::size_t column = 0;

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool number_integer(number_integer_t) override { return other("a number"); }
  bool number_unsigned(number_unsigned_t) override { return other("a number"); }
  bool number_float(number_float_t, const string_t&) override { return other("a number"); }
  bool binary(binary_t&) override { return other("binary"); }
  bool string(string_t& value) override {
    if (at_text()) {
      text = std::move(value);
      found = true;
      wrong_type.clear();
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 0) is_object = true;
    other("an object");
    ++depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    other("an array");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) text_is_next_ = name == "text";
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    column = position;
    syntax = error.what();
    return false;
  }

 private:
  [[nodiscard]] bool at_text() const { return depth_ == 1 && is_object && text_is_next_; }
  bool other(const char* type) {
    if (at_text()) {
      wrong_type = type;
      found = false;
    }
    return true;
  }

  int depth_ = 0;
  bool text_is_next_ = false;
};

/// The library's message without its prefix "[json.exception…] parse error at line 1, column 2: ".
std::string plain_words(const std::string& message) {
  const std::size_t colon = message.find(": ");
  std::string words = colon == std::string::npos ? message : message.substr(colon + 2);
  // A message quotes what was last read, which may be long or not even text.
  if (const std::size_t quote = words.find("; last read"); quote != std::string::npos)
    words.resize(quote);
  return words;
}

std::string text_of(std::string_view line, std::string_view source, std::size_t number) {
  TextField field;
  const bool ok = nlohmann::json::sax_parse(line.begin(), line.end(), &field);
  require(ok, "{}:{}: column {}: not JSON ({})", source, number, field.column,
          plain_words(field.syntax));
  require(field.is_object, "{}:{}: expected a JSON object with a string \"text\"", source, number);
  require(field.wrong_type.empty(), "{}:{}: \"text\" is {}; expected a string", source, number,
          field.wrong_type);
  require(field.found, "{}:{}: no \"text\"; expected a JSON object with a string of that name",
          source, number);
  return std::move(field.text);
}

}  // namespace

void split_jsonl(std::string_view text, std::string_view source, const DocumentSink& sink) {
  std::size_t number = 1;
  for (std::size_t at = byte_order_mark(text); at < text.size(); ++number) {
    const std::size_t line_break = text.find('\n', at);
    const std::size_t end = line_break == std::string_view::npos ? text.size() : line_break;
    const std::string_view line = text.substr(at, end - at);
    if (!is_blank(line)) {
      check_text(line, {.source = source, .line = number, .offset = at});
      const std::string document = text_of(line, source, number);
      require(document.find('\0') == std::string::npos,
              "{}:{}: \"text\" holds \\u0000, which separates documents; expected text without it",
              source, number);
      if (!is_blank(document)) sink(document, fmt::format("{}:{}", source, number));
    }
    at = end + 1;
  }
}

}  // namespace rondo
