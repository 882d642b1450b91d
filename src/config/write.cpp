// Writing, comparing and hashing configs, and the reference of all keys.
#include <map>
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
  // What belongs to a feature that is off has its default and decides nothing.
  if (key == "loops.start" || key == "loops.schedule_steps")
    return config.loops.sampler != Sampler::kSchedule;
  if (key.starts_with("train.muon_")) return config.train.optimizer != OptimizerKind::kMuon;
  if (key == "train.loop_loss") return config.train.loop_loss == LoopLoss::kLast;
  const bool steps_free =
      (config.train.schedule == ScheduleKind::kConstant ||
       config.train.schedule == ScheduleKind::kWsd) &&
      (config.model.kind != ModelKind::kRlt || config.train.feedback_schedule.empty());
  return kFree.contains(key) || (key == "train.steps" && steps_free);
}

/// A key as it is written.
struct Field {
  std::string key, value;
  bool hashed;
};

/// Those of the config's kind of model.
std::vector<Field> written_fields(const Config& config) {
  std::vector<Field> out;
  visit_fields(config, [&](const FieldInfo& field, const auto& value) {
    if (applies(field.key(), config.model.kind))
      out.push_back({field.key(), toml(value), !outside_hash(field.key(), config)});
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

/// Whether a difference in a key makes the runs different. Steps are free where the schedule does
/// not depend on them; a key of a feature that only one of them has counts.
bool counts_as_difference(const Field& left, const Field& right) {
  if (left.key == "train.steps") return left.hashed && right.hashed;
  return left.hashed || right.hashed;
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

// Keys at their defaults are left out, so that a later version with one key more still goes on with
// the checkpoints of this one.
std::string config_hash(const Config& config) {
  const Config standard;
  std::map<std::string, std::string> defaults;
  visit_fields(standard, [&](const FieldInfo& field, const auto& value) {
    defaults[field.key()] = toml(value);
  });
  std::string text;
  for (const auto& [key, value, hashed] : written_fields(config))
    if (hashed && value != defaults.at(key)) text += key + " = " + value + "\n";
  return sha256(text);
}

std::vector<std::string> differences(const Config& a, const Config& b) {
  std::vector<std::string> out;
  for (const auto& left : written_fields(a))
    for (const auto& right : written_fields(b))
      if (left.key == right.key && left.value != right.value && counts_as_difference(left, right))
        out.push_back(fmt::format("{}: {} → {}", left.key, left.value, right.value));
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
