// Reading a layout.
#include "config/layout.h"

#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "config/range.h"

namespace rondo {
namespace {

/// Takes a whole number off the front of `text`.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.front() == '-') return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// s x T + c, or what follows the prelude of it.
std::optional<Layout> read(std::string_view text) {
  Layout layout;
  auto number = take_number(text);
  if (!number) return {};
  const bool whole = take(text, '+');
  if (whole) {
    layout.prelude = *number;
    number = take_number(text);
    if (!number) return {};
  }
  layout.core = *number;
  if (!take(text, 'x') || !(number = take_number(text))) return {};
  layout.loops = *number;
  if (whole) {
    if (!take(text, '+') || !(number = take_number(text))) return {};
    layout.coda = *number;
  }
  return text.empty() ? std::optional(layout) : std::nullopt;
}

}  // namespace

std::array<Layout::Key, 4> Layout::keys() const {
  return {{{"model", "prelude_layers", prelude},
           {"model", "core_layers", core},
           {"model", "coda_layers", coda},
           {"loops", "forward", loops}}};
}

void Layout::apply_to(Config& config) const {
  config.model.layout.clear();
  config.model.prelude_layers = prelude;
  config.model.core_layers = core;
  config.model.coda_layers = coda;
  config.loops.forward = loops;
}

Layout parse_layout(std::string_view text, std::string_view where) {
  const auto layout = read(text);
  require(
      layout.has_value(),
      "{}: model.layout = \"{}\": cannot be read; expected \"1+2x9+1\" (prelude + core x loops + "
      "coda) or \"4x7\" (core x loops)",
      where, one_line(text));
  const auto in = [](std::int64_t value, double low, const Range& range) {
    return static_cast<double>(value) >= low && static_cast<double>(value) <= range.high;
  };
  require(
      in(layout->prelude, 0, kLayers) && in(layout->core, 1, kLayers) &&
          in(layout->coda, 0, kLayers) && in(layout->loops, kLoops.low, kLoops),
      "{}: model.layout = \"{}\": out of range; expected at most {} layers in each part, and at "
      "least one layer and one loop in the middle",
      where, one_line(text), kLayers.high);
  return *layout;
}

}  // namespace rondo
