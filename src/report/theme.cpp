// The palette: after Okabe and Ito (2008), which colour-blind readers can tell apart, darkened for
// white paper and lightened for dark screens to a contrast of 3:1 or more. Shape repeats what
// colour says.
#include "report/theme.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rondo {
namespace {

struct Colour {
  std::string_view name, light, dark;
};

constexpr std::array kColours = std::to_array<Colour>({
    {"paper", "#ffffff", "#15171a"},    {"ink", "#1b1d20", "#e8e6e1"},
    {"ink-2", "#4d5258", "#b4b3ae"},    {"ink-3", "#73787f", "#8b8d90"},
    {"rule", "#e1e2e4", "#2e3237"},     {"panel", "#f6f6f4", "#1d2024"},
    {"shade", "#eceae3", "#23272c"},    {"warning", "#8a5200", "#e5b567"},
    {"link", "#0b5c94", "#7cc0f0"},     {"series-1", "#0072b2", "#5ab4ee"},
    {"series-2", "#c84e00", "#f58a4b"}, {"series-3", "#00835e", "#35c79c"},
    {"series-4", "#a8467f", "#e394c4"}, {"series-5", "#94680a", "#e6b93f"},
    {"series-6", "#5457b8", "#a3a6f7"}, {"series-7", "#7c4a2d", "#cfa07c"},
    {"series-8", "#2f7f8f", "#86d5e3"}, {"ramp-1", "#9fb9d0", "#4a6f8e"},
    {"ramp-2", "#6f9cc4", "#5486ad"},   {"ramp-3", "#3f80b6", "#62a1d0"},
    {"ramp-4", "#15619b", "#86c0ea"},   {"ramp-5", "#0a3f6b", "#bfe0f8"},
});

struct Shape {
  std::string_view name, path;
};

constexpr std::array<Shape, kSeries> kShapes = {{
    {"circle", "M6 1.8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 1 0 0-8.4z"},
    {"square", "M2.2 2.2h7.6v7.6h-7.6z"},
    {"triangle-up", "M6 1.4l4.9 8.6h-9.8z"},
    {"diamond", "M6 .9l5.1 5.1-5.1 5.1-5.1-5.1z"},
    {"triangle-down", "M6 10.6l4.9-8.6h-9.8z"},
    {"cross", "M4.4 1.2h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z"},
    {"triangle-right", "M10.6 6l-8.6 4.9v-9.8z"},
    {"triangle-left", "M1.4 6l8.6 4.9v-9.8z"},
}};

constexpr const char* kFont =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

}  // namespace

std::string series_colour(std::size_t place) {
  return place < kSeries ? fmt::format("var(--series-{})", place + 1) : "var(--ink-3)";
}

std::string ramp_colour(std::size_t place) { return fmt::format("var(--ramp-{})", place + 1); }

std::string_view series_shape(std::size_t place) { return kShapes[place % kSeries].name; }

std::string_view series_path(std::size_t place) { return kShapes[place % kSeries].path; }

std::string css_variables(bool dark) {
  std::string text;
  for (const auto& colour : kColours)
    text += fmt::format("--{}:{};", colour.name, dark ? colour.dark : colour.light);
  return text;
}

Json chart_config() {
  const Json axis = {{"labelColor", "var(--ink-2)"},
                     {"titleColor", "var(--ink-2)"},
                     {"domainColor", "var(--ink-3)"},
                     {"tickColor", "var(--ink-3)"},
                     {"gridColor", "var(--rule)"},
                     {"labelFontSize", 12},
                     {"titleFontSize", 12},
                     {"titleFontWeight", "normal"},
                     {"titlePadding", 8},
                     {"labelPadding", 4},
                     {"tickSize", 4},
                     {"labelFlush", false}};
  return {{"background", "var(--paper)"},
          {"font", kFont},
          {"view", {{"stroke", nullptr}}},
          {"axis", axis},
          {"axisX", {{"grid", false}, {"tickCount", 6}, {"labelFlush", true}}},
          {"axisY", {{"domain", false}, {"ticks", false}, {"tickCount", 6}}},
          {"legend",
           {{"orient", "top"},
            {"direction", "horizontal"},
            {"labelColor", "var(--ink)"},
            {"title", nullptr},
            {"labelFontSize", 12},
            {"symbolSize", 80}}},
          {"header", {{"labelColor", "var(--ink)"}, {"labelFontSize", 12}}},
          {"line", {{"strokeWidth", 2}, {"strokeJoin", "round"}, {"strokeCap", "round"}}},
          {"point", {{"size", 45}, {"strokeWidth", 1.6}, {"opacity", 1}}}};
}

std::string standalone(std::string spec) {
  for (const auto& colour : kColours) {
    const std::string variable = fmt::format("var(--{})", colour.name);
    for (std::size_t at = spec.find(variable); at != std::string::npos;
         at = spec.find(variable, at + colour.light.size()))
      spec.replace(at, variable.size(), colour.light);
  }
  return spec;
}

}  // namespace rondo
