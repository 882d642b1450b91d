// Strict reading of CSV: a header line, then one row per line, cells apart by commas or tabs.
#pragma once

#include <string>
#include <string_view>

#include "law/raw_table.h"

namespace rondo {

/// Reads the text of a file. Tabs separate when the name ends in .tsv or the header has more of
/// them than commas. Quotes, "" and line breaks inside quotes, CRLF, and blank lines at the end are
/// read; blanks around a cell without quotes are no part of it. Throws input errors with `name`
/// and line: cells missing or too many, a quote that is not closed or stands inside a cell, a
/// column twice, the header again, no rows.
RawTable read_csv(std::string_view text, const std::string& name);

}  // namespace rondo
