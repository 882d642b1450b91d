// The page's style sheet and script, kept apart from the code that fills the page.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// CSS with the colours of theme.h for light, dark and print.
std::string page_style();

/// JavaScript that draws the charts of the page and lets a legend fade all groups but one.
std::string_view page_script();

}  // namespace rondo
