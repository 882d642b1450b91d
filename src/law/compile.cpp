// Resolving the names of a form.
#include "law/compile.h"

#include <algorithm>

#include "base/error.h"

namespace rondo {
namespace {

class FormCompiler {
 public:
  explicit FormCompiler(const LawForm& form)
      : form_(form),
        columns_(form.columns()),
        resolve_([this](const std::string& name) { return resolve(name); }) {}

  CompiledForm compile(std::string_view formula, const std::string& what) {
    compiled_.root = parse(formula, what);
    return std::move(compiled_);
  }

 private:
  int parse(std::string_view formula, const std::string& what) {
    return parse_formula(formula, "law " + form_.name + ", " + what, compiled_.nodes, resolve_);
  }

  int resolve(const std::string& name) {
    for (std::size_t i = 0; i < form_.parameters.size(); ++i)
      if (form_.parameters[i].name == name) return compiled_.nodes.parameter(static_cast<int>(i));
    for (const auto& [defined, formula] : form_.define)
      if (defined == name) return define(name, formula);
    const auto place = std::find(columns_.begin(), columns_.end(), name);
    require(place != columns_.end(), "law {}: no column, definition or parameter is called {}",
            form_.name, name);
    return compiled_.nodes.column(static_cast<int>(place - columns_.begin()));
  }

  int define(const std::string& name, const std::string& formula) {
    require(std::find(open_.begin(), open_.end(), name) == open_.end(),
            "law {}: define.{} needs itself", form_.name, name);
    open_.push_back(name);
    const int node = parse(formula, "define." + name);
    open_.pop_back();
    return node;
  }

  const LawForm& form_;
  std::vector<std::string> columns_;
  std::function<int(const std::string&)> resolve_;
  CompiledForm compiled_;
  std::vector<std::string> open_;  // definitions that are being read
};

}  // namespace

CompiledForm compile_form(const LawForm& form, std::string_view formula, const std::string& what) {
  return FormCompiler(form).compile(formula, what);
}

}  // namespace rondo
