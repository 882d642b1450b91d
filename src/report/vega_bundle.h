// The script that draws the charts (Vega, Vega-Lite and Vega-Embed in one file), carried by the
// program.
#pragma once

#include <string_view>

namespace rondo {

/// JavaScript (UTF-8) that defines the globals `vega`, `vegaLite` and `vegaEmbed`; to be put inside
/// a page's <script> element as it is. Lives as long as the program.
std::string_view vega_bundle();

}  // namespace rondo
