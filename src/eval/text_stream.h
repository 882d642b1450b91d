// Text that comes in pieces of bytes, let out as soon as it is certain: whole characters only, and
// nothing that may turn out to be the beginning of a stop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo {

class TextStream {
 public:
  /// `stops`: texts at which the stream ends; they are no part of it. None may be empty.
  explicit TextStream(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  /// Takes the next bytes; what may be shown now. Bytes that are not UTF-8 become U+FFFD as soon as
  /// no byte to come can make them whole.
  std::string add(std::string_view bytes);

  /// Ends the stream; what was held back. After a stop nothing is.
  std::string finish();

  /// Whether a stop has come; nothing is shown after it.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  std::string let_out(std::size_t count);

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace rondo
