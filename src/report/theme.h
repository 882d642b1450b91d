// Colours, marks and type of pages and charts. Charts name their colours as CSS variables, so that
// a page in light, dark or print recolours them without drawing them again; a spec that stands
// alone gets the light values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"

namespace rondo {

/// Series that can be told apart; further ones share the muted colour.
inline constexpr std::size_t kSeries = 8;
/// Shades from the start of training to its end.
inline constexpr std::size_t kRamp = 5;

/// "var(--series-1)" for place 0; the muted colour beyond the palette.
std::string series_colour(std::size_t place);
/// "var(--ramp-1)" … "var(--ramp-5)".
std::string ramp_colour(std::size_t place);
/// Name of the mark that goes with a series in Vega ("circle", "square", …).
std::string_view series_shape(std::size_t place);
/// The same mark as the path of a 12 × 12 SVG.
std::string_view series_path(std::size_t place);

/// `--paper: #fff; …` for the light and for the dark scheme.
std::string css_variables(bool dark);

/// Vega-Lite's `config` object: axes, type, lines, all in the variables above.
Json chart_config();

/// A chart's spec with the light colours put in for the variables.
std::string standalone(std::string spec);

}  // namespace rondo
