// Reading and writing forms of laws.
#include "law/form.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "law/compile.h"
#include "law/expression.h"

namespace rondo {
namespace {

// Reads one form out of a parsed file and says where what is wrong.
class FormReader {
 public:
  FormReader(const toml::table& file, const std::string& source) : file_(file), source_(source) {}

  LawForm read() {
    refuse_others(file_, "", {"law", "about", "source", "loss", "define", "parameters"});
    form_.name = text("law", true);
    form_.about = text("about", false);
    form_.source = text("source", false);
    form_.loss = text("loss", true);
    read_definitions();
    read_parameters();
    check();
    return std::move(form_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void wrong(const toml::node& node, fmt::format_string<Args...> what,
                          Args&&... args) const {
    fail("{}:{}: {}", source_, node.source().begin.line,
         fmt::format(what, std::forward<Args>(args)...));
  }

  void refuse_others(const toml::table& table, const std::string& prefix,
                     const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const auto near = nearest(name, known);
      wrong(node, "unknown key {}{}{}", prefix, name,
            near ? fmt::format("; did you mean {}?", *near) : "; there are " + join(known, ", "));
    }
  }

  std::string text(std::string_view key, bool needed) const {
    const auto* node = file_.get(key);
    if (node == nullptr) {
      require(!needed, "{}: {} is missing: {} = \"…\"", source_, key, key);
      return "";
    }
    const auto value = node->value<std::string>();
    if (!node->is_string() || value->empty()) wrong(*node, "{} must be a text", key);
    return *value;
  }

  const toml::table* table(std::string_view key) const {
    const auto* node = file_.get(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) wrong(*node, "{} must be a table", key);
    return node->as_table();
  }

  // toml++ sorts keys; people order them.
  static std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
    std::vector<std::pair<std::string, const toml::node*>> entries;
    for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      const auto x = a.second->source().begin, y = b.second->source().begin;
      return std::tie(x.line, x.column) < std::tie(y.line, y.column);
    });
    return entries;
  }

  void check_name(const std::string& name, const toml::node& node) const {
    static const std::set<std::string> kTaken = {"exp", "log", "sqrt", "min", "max", "loss"};
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
        !std::all_of(name.begin(), name.end(), fits))
      wrong(node, "'{}' cannot be a name: letters, digits and _ only", one_line(name));
    if (kTaken.contains(name)) wrong(node, "'{}' cannot be a name: it has a meaning", name);
  }

  void read_definitions() {
    const auto* definitions = table("define");
    if (definitions == nullptr) return;
    for (const auto& [name, node] : in_order(*definitions)) {
      check_name(name, *node);
      if (!node->is_string()) wrong(*node, "define.{} must be a formula as text", name);
      form_.define.emplace_back(name, *node->value<std::string>());
    }
  }

  void read_parameters() {
    const auto* parameters = table("parameters");
    require(parameters != nullptr && !parameters->empty(),
            "{}: no [parameters]: expected at least one, as alpha = {{ start = [0.1, 1.0] }}",
            source_);
    for (const auto& [name, node] : in_order(*parameters)) {
      check_name(name, *node);
      if (!node->is_table())
        wrong(*node, "parameters.{0} must be a table: {0} = {{ start = [low, high] }}", name);
      read_parameter(name, *node->as_table());
    }
  }

  void read_parameter(const std::string& name, const toml::table& table) {
    const std::string prefix = "parameters." + name + ".";
    refuse_others(table, prefix, {"start", "positive", "scale", "fixed"});
    LawParameter parameter{.name = name, .scale = "", .fixed = {}};
    if (const auto* node = table.get("positive")) {
      if (!node->is_boolean()) wrong(*node, "{}positive must be true or false", prefix);
      parameter.positive = *node->value<bool>();
    }
    if (const auto* node = table.get("scale")) {
      if (!node->is_string()) wrong(*node, "{}scale must be a formula as text", prefix);
      parameter.scale = *node->value<std::string>();
    }
    if (const auto* node = table.get("fixed")) parameter.fixed = number(*node, prefix + "fixed");
    if (const auto* node = table.get("start")) {
      const auto* range = node->as_array();
      if (range == nullptr || range->size() != 2)
        wrong(*node, "{}start must be two numbers: [low, high]", prefix);
      parameter.low = number(*range->get(0), prefix + "start");
      parameter.high = number(*range->get(1), prefix + "start");
      if (!(parameter.low < parameter.high))
        wrong(*node, "{}start must be [low, high] with low < high", prefix);
      if (parameter.positive && parameter.low <= 0)
        wrong(*node, "{}start must be above 0, as the parameter is positive", prefix);
    } else if (!parameter.fixed) {
      wrong(table, "{}start is missing: the range that random starts come from, [low, high]",
            prefix);
    }
    if (parameter.positive && parameter.fixed && *parameter.fixed < 0)
      wrong(table, "{}fixed must not be negative, as the parameter is positive", prefix);
    form_.parameters.push_back(parameter);
  }

  double number(const toml::node& node, const std::string& what) const {
    const auto value = node.value<double>();
    if (!node.is_number() || !std::isfinite(*value)) wrong(node, "{} must be a number", what);
    return *value;
  }

  // Syntax, unknown and unused names.
  void check() const {
    std::set<std::string> used;
    const auto note = [&](const std::string& formula, const std::string& what) {
      for (const auto& name : names_in(formula, source_ + ": " + what)) used.insert(name);
    };
    note(form_.loss, "loss");
    for (const auto& [name, formula] : form_.define) note(formula, "define." + name);
    for (const auto& [name, formula] : form_.define) {
      require(!form_.has_parameter(name), "{}: {} is both a definition and a parameter", source_,
              name);
      require(used.contains(name), "{}: define.{} is not used", source_, name);
    }
    for (const auto& parameter : form_.parameters) {
      require(used.contains(parameter.name), "{}: parameters.{} is not used", source_,
              parameter.name);
      check_scale(parameter);
    }
    require(!form_.columns().empty(), "{}: the loss depends on no column", source_);
    (void)compile_form(form_, form_.loss, "loss");
  }

  void check_scale(const LawParameter& parameter) const {
    if (parameter.scale.empty()) return;
    const auto where = source_ + ": parameters." + parameter.name + ".scale";
    for (const auto& name : names_in(parameter.scale, where)) {
      require(name == "n" || name == "tokens" || name == "loss" || form_.has_parameter(name),
              "{}: there is no {}; a scale is made of n, tokens, loss and parameters", where, name);
    }
  }

  const toml::table& file_;
  const std::string& source_;
  LawForm form_;
};

// A number as TOML reads it as a float, digit for digit.
std::string toml_number(double value) {
  auto text = fmt::format("{}", value);
  if (text.find_first_of(".en") == text.npos) text += ".0";
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::size_t LawForm::parameter(std::string_view wanted) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == wanted) return i;
    names.push_back(parameters[i].name);
  }
  fail("law {} has no parameter {}; it has {}", name, wanted, join(names, ", "));
}

bool LawForm::has_parameter(std::string_view wanted) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const auto& parameter) { return parameter.name == wanted; });
}

std::size_t LawForm::free_count() const {
  return static_cast<std::size_t>(
      std::count_if(parameters.begin(), parameters.end(),
                    [](const auto& parameter) { return !parameter.fixed; }));
}

std::vector<std::string> LawForm::columns() const {
  std::vector<std::string> found;
  const auto look = [&](const std::string& formula, const std::string& what) {
    for (const auto& word : names_in(formula, "law " + name + ", " + what)) {
      const bool defined = std::any_of(define.begin(), define.end(),
                                       [&](const auto& entry) { return entry.first == word; });
      if (!defined && !has_parameter(word) &&
          std::find(found.begin(), found.end(), word) == found.end())
        found.push_back(word);
    }
  };
  look(loss, "loss");
  for (const auto& [defined, formula] : define) look(formula, "define." + defined);
  return found;
}

bool LawForm::uses(std::string_view column) const {
  const auto used = columns();
  return std::find(used.begin(), used.end(), column) != used.end();
}

LawForm parse_form(std::string_view text, const std::string& source) {
  try {
    const auto file = toml::parse(text);
    return FormReader(file, source).read();
  } catch (const toml::parse_error& error) {
    fail("{}:{}: {}", source, error.source().begin.line, error.description());
  }
}

std::string to_toml(const LawForm& form) {
  auto text = fmt::format("law = {}\n", quoted(form.name));
  if (!form.about.empty()) text += fmt::format("about = {}\n", quoted(form.about));
  if (!form.source.empty()) text += fmt::format("source = {}\n", quoted(form.source));
  text += fmt::format("loss = {}\n", quoted(form.loss));
  if (!form.define.empty()) text += "\n[define]\n";
  for (const auto& [name, formula] : form.define)
    text += fmt::format("{} = {}\n", name, quoted(formula));
  text += "\n[parameters]\n";
  for (const auto& parameter : form.parameters) {
    std::vector<std::string> parts;
    parts.push_back(
        fmt::format("start = [{}, {}]", toml_number(parameter.low), toml_number(parameter.high)));
    if (parameter.positive) parts.emplace_back("positive = true");
    if (!parameter.scale.empty()) parts.push_back("scale = " + quoted(parameter.scale));
    if (parameter.fixed) parts.push_back("fixed = " + toml_number(*parameter.fixed));
    text += fmt::format("{} = {{ {} }}\n", parameter.name, join(parts, ", "));
  }
  return text;
}

}  // namespace rondo
