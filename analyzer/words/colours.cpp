#include "analyzer/words/colours.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace wicprof::analyzer {

namespace {

/// Relative luminance as WCAG 2 defines it for sRGB.
double luminance(Colour colour) {
  const auto linear = [&](int shift) {
    const double part = static_cast<double>((colour >> shift) & 0xff) / 255;
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}

}  // namespace

Colour text_on(Colour fill) {
  const double light = luminance(fill), dark_text = luminance(kLightTheme.text);
  // The contrast of WCAG 2: (L1 + 0.05) / (L2 + 0.05).
  return 1.05 / (light + 0.05) > (light + 0.05) / (dark_text + 0.05) ? 0xffffff : kLightTheme.text;
}

std::string css_colour(Colour colour) { return fmt::format("#{:06x}", colour); }

std::string css_variables(bool dark_page) {
  const Theme& theme = theme_of(dark_page);
  const std::pair<std::string_view, Colour> rest[] = {
      {"page", theme.page},    {"card", theme.card},           {"text", theme.text}, {"faint", theme.faint},
      {"line", theme.line},    {"lane", theme.lane},           {"bad", theme.bad},   {"bad-soft", theme.bad_soft},
      {"good", theme.good},    {"good-soft", theme.good_soft}, {"warn", theme.warn}, {"warn-soft", theme.warn_soft},
      {"accent", theme.accent}};
  std::string text;
  for (const auto& [name, colour] : rest) text += fmt::format(" --{}: {};", name, css_colour(colour));
  for (const StateLook& look : kStateLooks)
    text += fmt::format(" --{}: {};", look.token, css_colour(look.colour.on(dark_page)));
  return text;
}

}  // namespace wicprof::analyzer
