// A form's formula with its definitions put in: what evaluates it.
#pragma once

#include <string>
#include <string_view>

#include "law/form.h"
#include "law/formula.h"

namespace rondo {

/// Nodes and the one that is the value. Columns are numbered as in form.columns(), parameters as in
/// form.parameters.
struct CompiledForm {
  FormulaNodes nodes;
  int root = -1;
};

/// Compiles `formula` with the names of `form`; `what` ("loss") stands in errors. Throws an input
/// error for a name that is neither parameter, definition nor column, and for a definition that
/// needs itself.
CompiledForm compile_form(const LawForm& form, std::string_view formula, const std::string& what);

}  // namespace rondo
