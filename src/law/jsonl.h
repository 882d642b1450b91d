// Strict reading of JSONL: one flat object per line, its keys the names of columns.
#pragma once

#include <string>
#include <string_view>

#include "law/raw_table.h"

namespace rondo {

/// Reads the text of a file. Keys may come in any order; a key that a line does not have, or that
/// is null there, is an empty cell. Python's NaN and Infinity are read, as the cells they are.
/// Throws input errors with `name` and line: not a JSON object, a list or an object as a value, a
/// key twice, a blank line between rows.
RawTable read_jsonl(std::string_view text, const std::string& name);

}  // namespace rondo
