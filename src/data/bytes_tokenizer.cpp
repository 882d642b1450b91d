// The tokenizer without a vocabulary file: ids are the 256 byte values, no specials.
#include "data/bytes_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace rondo {
namespace {

constexpr std::int32_t kByteValues = 256;

class BytesTokenizer final : public Tokenizer {
 public:
  [[nodiscard]] std::string name() const override { return "bytes"; }
  [[nodiscard]] std::int64_t vocab() const override { return kByteValues; }
  [[nodiscard]] std::string vocab_hash() const override {
    return sha256("rondo vocabulary: bytes, 256 ids, no specials\n");
  }
  [[nodiscard]] std::optional<std::int32_t> end_of_text() const override { return std::nullopt; }

  using Tokenizer::encode;
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const override {
    const std::size_t before = ids.size();
    ids.resize(before + text.size());
    std::transform(text.begin(), text.end(), ids.begin() + static_cast<std::ptrdiff_t>(before),
                   [](char c) { return static_cast<std::int32_t>(static_cast<unsigned char>(c)); });
  }

  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    text.reserve(ids.size());
    for (const std::int32_t id : ids) {
      require(id >= 0 && id < kByteValues,
              "tokenizer \"bytes\": {} is not an id; expected 0 to 255", id);
      text += static_cast<char>(id);
    }
    return text;
  }

  [[nodiscard]] std::int64_t text_bytes(std::int32_t /*id*/) const override { return 1; }

  [[nodiscard]] std::size_t separable_prefix(std::string_view text) const override {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    return std::min(text.size(), kPiece);
  }
};

}  // namespace

std::shared_ptr<const Tokenizer> bytes_tokenizer() { return std::make_shared<BytesTokenizer>(); }

}  // namespace rondo
