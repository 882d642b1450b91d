// What the charts of a law share: colours by loops, logarithmic axes, marks of held-out rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/chart.h"
#include "report/law_data.h"

namespace rondo {

/// `{field, type, scale}` that gives these names colours or shapes in their order. Names beyond the
/// palette share the muted colour.
Json named_colour(const std::string& field, std::span<const std::string> names);
Json named_shape(const std::string& field, std::span<const std::string> names);

/// The names with their colours, and shapes unless they are lines; empty for a single name.
std::vector<LegendEntry> named_legend(std::span<const std::string> names, bool lines);

/// Marks of rows by group: filled where `set` is "fitted", hollow where it is "held out".
void add_row_marks(Json& layer, const LawData& data, const Json& tooltip);

/// "Filled marks were fitted, hollow ones held out." where there are held-out rows, else nothing.
std::string held_out_words(const LawData& data);

/// Which residuals an axis reaches to, and the sentence for those beyond.
struct ResidualRange {
  double low, high;
  std::string words;  ///< " 4 runs lie beyond the ends and are drawn there."; mostly nothing
};
/// All of them, unless a few lie so far out that nothing would be seen of the others.
ResidualRange residual_range(const LawData& data);

/// The axis of this range.
Json residual_axis(const ResidualRange& range);

/// A quantitative axis that is logarithmic when `low` > 0 and high / low is large.
Json value_axis(const std::string& field, const std::string& title, double low, double high);

/// A logarithmic axis; format as in d3: "~e" for FLOPs, "~s" for counts.
Json log_axis(const std::string& field, const std::string& title, const std::string& format);

/// One number of a tooltip.
Json tip(const std::string& field, const std::string& title, const std::string& format);

/// "fitted" or "held out".
std::string set_word(const LawRow& row);

/// "2.15e+19": FLOPs as axes write them.
std::string flops_words(double flops);

}  // namespace rondo
