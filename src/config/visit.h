// One flat walk over every field of a config: full key, value, allowed range, meaning.
#pragma once

#include <string>
#include <type_traits>

#include "config/config.h"

namespace rondo {

/// What a visitor is told about a field besides its value.
struct FieldInfo {
  std::string section;  ///< empty for the fields outside every section
  std::string name;
  Range range;
  const char* help;
  [[nodiscard]] std::string key() const { return section.empty() ? name : section + "." + name; }
};

/// Adds the section's name to what a struct's field list says.
template <typename Visit>
struct SectionVisitor {
  const std::string& section;
  Visit& visit;

  template <typename Value>
  void operator()(const char* name, Value& value, Range range, const char* help) const {
    visit(FieldInfo{section, name, range, help}, value);
  }
  template <typename Value>
  void operator()(const char* name, Value& value, const char* help) const {
    (*this)(name, value, kAny, help);
  }
};

/// Calls visit(FieldInfo, value&) for every field of `config`, in the order of writing.
template <typename ConfigType, typename Visit>
void visit_fields(ConfigType& config, Visit&& visit) {
  const auto visit_section = [&](const std::string& section, auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    Part::fields(part, SectionVisitor<std::remove_reference_t<Visit>>{section, visit});
  };
  visit_section("", config);
  Config::sections(config, visit_section);
}

}  // namespace rondo
