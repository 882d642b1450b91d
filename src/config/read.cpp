// Strict reading of recipes: every value is checked where it stands, and nothing unknown passes.
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "config/kinds.h"
#include "config/layout.h"
#include "config/recipe.h"
#include "config/size.h"
#include "config/visit.h"

namespace rondo {
namespace {

/// A parsed table and the words that say where its values stand.
struct Source {
  toml::table table;
  std::string name;
  bool has_lines = true;

  [[nodiscard]] std::string at(const toml::node& node) const {
    return has_lines ? fmt::format("{}:{}", name, node.source().begin.line) : name;
  }
};

/// A value as it may stand in an error of one line.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (const auto* number = node.as_floating_point()) {
    const auto text = fmt::format("{}", number->get());
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* array = node.as_array()) {
    std::vector<std::string> items;
    for (const auto& item : *array) items.push_back(shown(item));
    return one_line("[" + join(items, ", ") + "]");
  }
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (requires { out << value; }) out << value;
  });
  return one_line(out.str());
}

[[noreturn]] void wrong_type(const Source& source, const FieldInfo& field, const toml::node& node,
                             std::string_view expected) {
  fail("{}: {} = {}: expected {}", source.at(node), field.key(), shown(node), expected);
}

void check_range(const Source& source, const FieldInfo& field, const toml::node& node,
                 double value) {
  const auto [low, high] = field.range;
  if (value >= low && value <= high) return;
  std::string expected = fmt::format("{} to {}", low, high);
  if (high >= kHuge && value > high) {
    expected = fmt::format("at most {:g}", high);
  } else if (high >= kHuge) {
    expected = low == kAboveZero.low ? "a number above 0" : fmt::format("{} or more", low);
  }
  fail("{}: {} = {}: out of range; expected {}", source.at(node), field.key(), shown(node),
       expected);
}

void read_value(const Source& source, const FieldInfo& field, const toml::node& node,
                std::int64_t& value) {
  if (!node.is_integer()) wrong_type(source, field, node, "a whole number");
  value = **node.as_integer();
  check_range(source, field, node, static_cast<double>(value));
}

void read_value(const Source& source, const FieldInfo& field, const toml::node& node,
                std::uint64_t& value) {
  if (!node.is_integer() || **node.as_integer() < 0)
    wrong_type(source, field, node, "a whole number that is not negative");
  value = static_cast<std::uint64_t>(**node.as_integer());
}

void read_value(const Source& source, const FieldInfo& field, const toml::node& node,
                double& value) {
  const auto number = node.value<double>();
  if (!number || !node.is_number() || !std::isfinite(*number))
    wrong_type(source, field, node, "a number");
  value = *number;
  check_range(source, field, node, value);
}

void read_value(const Source& source, const FieldInfo& field, const toml::node& node, bool& value) {
  if (!node.is_boolean()) wrong_type(source, field, node, "true or false");
  value = **node.as_boolean();
}

void read_value(const Source& source, const FieldInfo& field, const toml::node& node,
                std::string& value) {
  // data.validation is a share or a path: a number is kept as its text.
  if (node.is_number() && field.key() == "data.validation") {
    const auto share = node.value<double>().value_or(0);
    if (!(share > 0 && share < 1))
      wrong_type(source, field, node, "a share between 0 and 1, or a path");
    value = shown(node);
    return;
  }
  if (!node.is_string()) wrong_type(source, field, node, "a string");
  value = **node.as_string();
}

void read_value(const Source& source, const FieldInfo& field, const toml::node& node,
                std::array<double, 2>& value) {
  const auto* array = node.as_array();
  if (array == nullptr || array->size() != 2)
    wrong_type(source, field, node, "two numbers, as in [0.9, 0.95]");
  for (std::size_t i = 0; i < 2; ++i) read_value(source, field, *array->get(i), value[i]);
}

template <typename Enum>
requires std::is_enum_v<Enum>
void read_value(const Source& source, const FieldInfo& field, const toml::node& node, Enum& value) {
  const std::vector<std::string> words(kWords<Enum>.begin(), kWords<Enum>.end());
  const auto* text = node.as_string();
  for (std::size_t i = 0; text != nullptr && i < words.size(); ++i) {
    if (text->get() != words[i]) continue;
    value = static_cast<Enum>(i);
    return;
  }
  wrong_type(source, field, node, fmt::format("one of {}", join(words, ", ")));
}

template <typename Item>
void read_value(const Source& source, const FieldInfo& field, const toml::node& node,
                std::vector<Item>& values) {
  const auto* array = node.as_array();
  if (array == nullptr) wrong_type(source, field, node, "a list, as in [1, 2]");
  values.assign(array->size(), Item{});
  for (std::size_t i = 0; i < values.size(); ++i)
    read_value(source, field, *array->get(i), values[i]);
}

/// Full keys of every field.
std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  Config config;
  visit_fields(config, [&](const FieldInfo& field, const auto&) { keys.push_back(field.key()); });
  return keys;
}

/// What a person may have meant: the key of that name in another section, else a similar spelling.
std::optional<std::string> meant(const std::string& key, const std::vector<std::string>& known) {
  const std::string bare = key.substr(key.find('.') + 1);
  for (const auto& candidate : known)
    if (candidate == bare || candidate.ends_with("." + bare)) return candidate;
  return nearest(key, known);
}

void refuse_unknown(const Source& source) {
  static const std::vector<std::string> known = known_keys();
  static const std::vector<std::string> sections = {"model", "loops", "data", "train", "engine"};
  const auto is_section = [](const std::string& name) {
    return std::find(sections.begin(), sections.end(), name) != sections.end();
  };
  const auto refuse = [&](const std::string& key, const toml::node& node) {
    if (std::find(known.begin(), known.end(), key) != known.end()) return;
    const auto section = node.is_table() ? nearest(key, sections) : std::nullopt;
    if (section)
      fail("{}: [{}]: unknown section; did you mean [{}]?", source.at(node), one_line(key),
           *section);
    const auto close = meant(key, known);
    fail("{}: {}: unknown key{}", source.at(node), one_line(key),
         close ? fmt::format("; did you mean {}?", *close)
               : std::string("; `rondo info --keys` lists the known ones"));
  };
  for (const auto& [name, node] : source.table) {
    const std::string section(name.str());
    const auto* table = node.as_table();
    if (table == nullptr || !is_section(section)) {
      if (is_section(section))
        fail("{}: {}: expected a section [{}]", source.at(node), section, section);
      refuse(section, node);
      continue;
    }
    for (const auto& [key, value] : *table) refuse(section + "." + std::string(key.str()), value);
  }
}

const toml::node* find(const Source& source, const FieldInfo& field) {
  if (field.section.empty()) return source.table.get(field.name);
  const auto* section = source.table.get_as<toml::table>(field.section);
  return section == nullptr ? nullptr : section->get(field.name);
}

void apply(const Source& source, Config& config) {
  refuse_unknown(source);
  visit_fields(config, [&](const FieldInfo& field, auto& value) {
    if (const auto* node = find(source, field)) read_value(source, field, *node, value);
  });
}

/// Refuses keys of the other kind of model. A looped recipe may spell out an RLT's keys with their
/// defaults, as a list of all keys does; in an RLT's recipe a key of loops would look as if it did
/// something.
void refuse_other_kind(const Source& source, ModelKind kind) {
  const bool rlt = kind == ModelKind::kRlt;
  const auto refuse = [&](const std::string& key, const toml::node& node) {
    fail(
        "{}: {} = {}: belongs to model.kind = \"{}\" and this recipe's is \"{}\"; leave it out or "
        "change the kind",
        source.at(node), key, shown(node), word(rlt ? ModelKind::kLooped : ModelKind::kRlt),
        word(kind));
  };
  const auto* loops = source.table.get_as<toml::table>("loops");
  if (rlt && loops != nullptr)
    for (const auto& [key, node] : *loops) refuse("loops." + std::string(key.str()), node);
  const Config defaults;
  visit_fields(defaults, [&](const FieldInfo& field, const auto& value) {
    const auto* node = applies(field.key(), kind) ? nullptr : find(source, field);
    if (node == nullptr) return;
    auto given = value;
    if (!rlt) read_value(source, field, *node, given);
    if (rlt || given != value) refuse(field.key(), *node);
  });
}

/// Sets what model.layout stands for. As everywhere, what --set says replaces what the recipe says;
/// two statements on the same side must agree.
void apply_layout(const std::vector<Source>& sources, Config& config) {
  if (config.model.layout.empty()) return;
  const auto node_of = [](const Source& source, std::string_view section, std::string_view name) {
    return find(source, {std::string(section), std::string(name), kAny, ""});
  };
  std::size_t stated = sources.size() - 1;
  while (node_of(sources[stated], "model", "layout") == nullptr) --stated;
  const auto& origin = sources[stated];
  const auto where = origin.at(*node_of(origin, "model", "layout"));
  const auto layout = parse_layout(config.model.layout, where);
  for (const auto& [section, name, value] : layout.keys()) {
    for (std::size_t i = stated == 0 ? 0 : 1; i < sources.size(); ++i) {
      const auto* node = node_of(sources[i], section, name);
      if (node == nullptr || **node->as_integer() == value) continue;
      fail("{}: {}.{} = {}: model.layout = \"{}\" says {}; leave one of them out",
           sources[i].at(*node), section, name, shown(*node), config.model.layout, value);
    }
  }
  layout.apply_to(config);
  const bool truncated = std::any_of(sources.begin(), sources.end(), [&](const Source& source) {
    return node_of(source, "loops", "backward") != nullptr;
  });
  if (!truncated) config.loops.backward = config.loops.forward;
}

Source parse(std::string_view text, std::string_view name) {
  if (const auto bad = invalid_utf8(text))
    fail("{}: not valid UTF-8 at byte {}; expected a TOML file", name, *bad);
  try {
    return {toml::parse(text, name), std::string(name)};
  } catch (const toml::parse_error& error) {
    fail("{}:{}: not valid TOML: {}", name, error.source().begin.line, error.description());
  }
}

/// `key=value` as a table of one entry. The value is TOML when it parses as TOML, else a string.
Source parse_override(const std::string& text) {
  if (const auto bad = invalid_utf8(text))
    fail("--set {}…: not valid UTF-8 at byte {}", one_line(text.substr(0, *bad)), *bad);
  const std::string name = fmt::format("--set {}", one_line(text));
  const auto equals = text.find('=');
  const std::string key = text.substr(0, equals == std::string::npos ? 0 : equals);
  require(!key.empty() && !key.starts_with('.') && !key.ends_with('.'),
          "{}: expected key=value, as in --set train.steps=100", name);
  const std::string value = text.substr(equals + 1);
  toml::table holder;
  try {
    holder = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    holder.insert_or_assign("value", value);
  }
  require(holder.size() == 1, "{}: expected one value", name);
  const auto dot = key.find('.');
  toml::table table;
  if (dot == std::string::npos) {
    holder.get("value")->visit([&](auto& node) { table.insert_or_assign(key, node); });
  } else {
    toml::table section;
    holder.get("value")->visit(
        [&](auto& node) { section.insert_or_assign(key.substr(dot + 1), node); });
    table.insert_or_assign(key.substr(0, dot), section);
  }
  return {std::move(table), name, false};
}

}  // namespace

Config parse_recipe(std::string_view text, std::string_view source, const Overrides& overrides) {
  std::vector<Source> sources;
  sources.push_back(parse(text, source));
  for (const auto& item : overrides) sources.push_back(parse_override(item));
  // The dial comes before everything that may override what it sets.
  Config config;
  for (const auto& layer : sources)
    if (const auto* node = layer.table.get("size"))
      read_value(layer, FieldInfo{"", "size", kAny, ""}, *node, config.size);
  apply_size(config.size, config);
  for (const auto& layer : sources) apply(layer, config);
  for (const auto& layer : sources) refuse_other_kind(layer, config.model.kind);
  apply_layout(sources, config);
  resolve(config, source);
  return config;
}

Config read_recipe(const std::string& path, const Overrides& overrides) {
  fs::path file = path;
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    file /= "config.toml";
    require(fs::exists(file, ignored),
            "{}: a folder without config.toml; expected a recipe or a run", path);
  }
  require(fs::exists(file, ignored), "{}: no such recipe", path);
  return parse_recipe(read_file(file), file.string(), overrides);
}

}  // namespace rondo
