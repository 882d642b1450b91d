// The table of tokenizers, and what all of them share.
#include "data/tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "data/bytes_tokenizer.h"

namespace rondo {
namespace {

/// One kind of tokenizer: which names it answers to, and how it is opened.
struct Kind {
  bool (*accepts)(std::string_view name);
  std::shared_ptr<const Tokenizer> (*open)(const std::string& name);
  std::string_view expected;  ///< how a person writes it
};

constexpr Kind kKinds[] = {
    {[](std::string_view name) { return name == "bytes"; },
     [](const std::string&) { return bytes_tokenizer(); }, "\"bytes\""},
};

}  // namespace

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  encode(text, ids);
  return ids;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& name) {
  std::string expected;
  for (const Kind& kind : kKinds) {
    if (kind.accepts(name)) return kind.open(name);
    if (!expected.empty()) expected += " or ";
    expected += kind.expected;
  }
  fail("tokenizer \"{}\": not available; expected {}", name, expected);
}

void encode_document(const Tokenizer& tokenizer, std::string_view text, std::string_view where,
                     const TokenSink& sink) {
  const std::int32_t separator = tokenizer.separator();
  std::vector<std::int32_t> ids;
  for (std::size_t done = 0; done < text.size();) {
    const std::size_t piece = tokenizer.separable_prefix(text.substr(done));
    ids.clear();
    tokenizer.encode(text.substr(done, piece), ids);
    require(std::find(ids.begin(), ids.end(), separator) == ids.end(),
            "{}: the text holds id {}, which separates documents; expected text without it", where,
            separator);
    sink(ids);
    done += piece;
  }
  sink(std::span(&separator, 1));
}

}  // namespace rondo
