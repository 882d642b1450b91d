// How text becomes the ids that a model reads, and ids text: by its tokenizer, or as its task
// writes examples.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "data/tokenizer.h"

namespace rondo {

class TextForm {
 public:
  /// `data` is resolved. Throws input errors: a tokenizer that cannot be opened.
  explicit TextForm(const DataConfig& data);

  /// Ids that a text begins with: BOS for a task, whose examples all do, and nothing else.
  [[nodiscard]] std::vector<std::int32_t> beginning() const;

  /// Ids of a text: of a word problem's "4 51 0" the elements, of other tasks bytes, else what the
  /// tokenizer makes of it. Throws an input error, which calls the text `name`, when it is no text
  /// of this kind.
  [[nodiscard]] std::vector<std::int32_t> ids(std::string_view text, std::string_view name) const;

  /// Bytes that `id` stands for as number `index` of a text; those of a character may be spread
  /// over several ids. The id that ends a text stands for none, other specials of a task for their
  /// names.
  [[nodiscard]] std::string piece(std::int32_t id, std::size_t index) const;

  /// The id after which a text is over: what separates documents, or a task's EOS.
  [[nodiscard]] std::int32_t end() const;

  /// Ids that stand for something; a model may have more.
  [[nodiscard]] std::int64_t vocab() const;

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;  ///< none for a task
  std::int32_t elements_ = 0;  ///< of the group whose words a task's text is, as numbers; 0: bytes
};

}  // namespace rondo
