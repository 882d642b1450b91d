// Parts that all pages share: head and end, notes, charts with their legend.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/chart.h"

namespace rondo {

/// From the doctype to </head>. The page reloads itself after `refresh_s` seconds, 0 = never.
std::string page_head(const std::string& title, int refresh_s);

/// The footer and, where there are charts, the scripts that draw them; to the last tag.
std::string page_end(bool with_charts);

/// A mark of a legend as SVG; an empty path is a line.
std::string legend_mark(const std::string& colour, std::string_view path);

/// Sentences that a reader must not miss, under a title; nothing when there are none.
std::string notes_aside(std::string_view title, std::span<const std::string> notes);

/// Title, how to read it, legend, chart; then `after`, which is HTML.
std::string chart_section(const Chart& chart, const std::string& after);

/// The numbers of a table folded away under `summary`, at most `most_rows` of them; `more` says
/// where the others are.
std::string data_details(std::string_view summary, const DataTable& data, std::size_t most_rows,
                         std::string_view more);

}  // namespace rondo
