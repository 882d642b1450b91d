// The names of recorded numbers as people read them: one table for pages, charts and terminals.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rondo {

/// A key of metrics.jsonl, summary.json or a run table in words.
struct FieldName {
  std::string_view key;
  std::string_view title;    ///< "validation loss"
  std::string_view unit;     ///< "nats/token"; empty for plain numbers
  std::string_view meaning;  ///< one sentence
  /// "validation loss (nats/token)".
  [[nodiscard]] std::string label() const;
};

/// All of them.
std::span<const FieldName> field_names();

/// The words for a key; a key that is not in the table stands for itself.
FieldName field_name(std::string_view key);

}  // namespace rondo
