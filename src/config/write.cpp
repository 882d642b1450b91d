// Writing, comparing and hashing configs, and the reference of all keys.
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "config/kinds.h"
#include "config/recipe.h"
#include "config/visit.h"

namespace rondo {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toml(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}
std::string toml(std::int64_t value) { return fmt::format("{}", value); }
std::string toml(std::uint64_t value) { return fmt::format("{}", value); }
std::string toml(bool value) { return value ? "true" : "false"; }
std::string toml(const std::string& value) { return in_quotes(value); }
std::string toml(const std::array<double, 2>& value) {
  return fmt::format("[{}, {}]", toml(value[0]), toml(value[1]));
}
template <typename Enum>
requires std::is_enum_v<Enum> std::string toml(Enum value) { return in_quotes(word(value)); }
template <typename Item>
std::string toml(const std::vector<Item>& values) {
  std::vector<std::string> items;
  for (const auto& value : values) items.push_back(toml(value));
  return "[" + join(items, ", ") + "]";
}

/// Keys that may change from one part of a run to the next without changing its numbers.
bool outside_hash(const std::string& key, const Config& config) {
  static const std::set<std::string> kFree = {"train.stop_after", "train.validate_every",
                                              "train.checkpoint_every", "train.keep",
                                              "engine.threads"};
  const bool steps_free =
      (config.train.schedule == ScheduleKind::kConstant ||
       config.train.schedule == ScheduleKind::kWsd) &&
      (config.model.kind != ModelKind::kRlt || config.train.feedback_schedule.empty());
  return kFree.contains(key) || (key == "train.steps" && steps_free);
}

std::vector<std::pair<std::string, std::string>> hashed_fields(const Config& config) {
  std::vector<std::pair<std::string, std::string>> out;
  visit_fields(config, [&](const FieldInfo& field, const auto& value) {
    if (applies(field.key(), config.model.kind) && !outside_hash(field.key(), config))
      out.emplace_back(field.key(), toml(value));
  });
  return out;
}

std::string range_text(const Range& range) {
  if (range.low <= -kHuge) return "";
  if (range.high >= kHuge)
    return range.low == kAboveZero.low ? "> 0" : fmt::format("≥ {}", range.low);
  return fmt::format("{} … {}", range.low, range.high);
}

template <typename Value>
std::string allowed(const Range& range, const Value&) {
  if constexpr (std::is_enum_v<Value>) {
    return join(std::vector<std::string>(kWords<Value>.begin(), kWords<Value>.end()), ", ");
  } else if constexpr (std::is_same_v<Value, std::vector<BpttPart>>) {
    return "a list of " + allowed(range, BpttPart{});
  } else {
    return range_text(range);
  }
}

}  // namespace

std::string to_toml(const Config& config) {
  std::string out, section;
  visit_fields(config, [&](const FieldInfo& field, const auto& value) {
    if (!applies(field.key(), config.model.kind)) return;
    if (field.section != section) {
      section = field.section;
      out += fmt::format("\n[{}]\n", section);
    }
    out += fmt::format("{} = {}\n", field.name, toml(value));
  });
  return out;
}

std::string config_hash(const Config& config) {
  std::string text;
  for (const auto& [key, value] : hashed_fields(config)) text += key + " = " + value + "\n";
  return sha256(text);
}

std::vector<std::string> differences(const Config& a, const Config& b) {
  std::vector<std::string> out;
  const auto left = hashed_fields(a), right = hashed_fields(b);
  // The lists differ in length only when the schedules differ, which is then itself a difference.
  for (const auto& [key, value] : left)
    for (const auto& [other_key, other_value] : right)
      if (key == other_key && value != other_value)
        out.push_back(fmt::format("{}: {} → {}", key, value, other_value));
  return out;
}

std::string recipe_reference() {
  std::string out, section;
  const Config defaults;
  const std::string head = "\n| key | default | allowed | meaning |\n|---|---|---|---|\n";
  out += head;
  visit_fields(defaults, [&](const FieldInfo& field, const auto& value) {
    if (field.section != section) {
      section = field.section;
      out += fmt::format("\n## [{}]\n{}", section, head);
    }
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", field.name, toml(value),
                       allowed(field.range, value), field.help);
  });
  return out;
}

}  // namespace rondo
