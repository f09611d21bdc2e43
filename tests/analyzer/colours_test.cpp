// The colours: readers with any colour vision can distinguish the states, and the report defines all its variables.
#include "analyzer/words/colours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reports/html/assets.h"

namespace wicprof::analyzer {
namespace {

/// Colour vision as matrices on linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
struct ColourVision {
  const char* name;
  double matrix[9];
  bool common;  ///< false: tritanopia, one person in ten thousand; a smaller distance is accepted
};
constexpr ColourVision kColourVisions[] = {
    {"all colours", {1, 0, 0, 0, 1, 0, 0, 0, 1}, true},
    {"no red", {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998}, true},
    {"no green", {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881}, true},
    {"no blue", {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}, false},
};

struct Lab {
  double l, a, b;
};

Lab seen(Colour colour, const ColourVision& eyes) {
  const auto linear = [&](int shift) {
    const double part = static_cast<double>((colour >> shift) & 0xff) / 255;
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  const double rgb[3] = {linear(16), linear(8), linear(0)};
  double s[3] = {};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) s[row] += eyes.matrix[row * 3 + column] * rgb[column];
    s[row] = std::clamp(s[row], 0.0, 1.0);
  }
  // CIELAB, D65.
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.95047);
  const double y = f(0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]);
  const double z = f((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(Colour a, Colour b, const ColourVision& eyes) {
  const Lab x = seen(a, eyes), y = seen(b, eyes);
  return std::sqrt((x.l - y.l) * (x.l - y.l) + (x.a - y.a) * (x.a - y.a) + (x.b - y.b) * (x.b - y.b));
}

// A just noticeable difference is about 2.3.
constexpr double kStacked = 20, kAnywhere = 10, kOnPage = 18, kWithoutBlue = 0.7;

bool stacked(State state) {
  return state == State::transferring || std::find(kWarpStates.begin(), kWarpStates.end(), state) != kWarpStates.end();
}

TEST(Colours, StatesAreDistinctWithAnyColourVision) {
  for (const ColourVision& eyes : kColourVisions) {
    for (const bool dark : {false, true}) {
      for (std::size_t i = 0; i < kStates; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const auto a = static_cast<State>(i), b = static_cast<State>(j);
          if (a == State::signalling || b == State::signalling) continue;  // a triangle, recognizable by its shape
          const double needed = (stacked(a) && stacked(b) ? kStacked : kAnywhere) * (eyes.common ? 1 : kWithoutBlue);
          EXPECT_GE(distance(look_of(a).colour.on(dark), look_of(b).colour.on(dark), eyes), needed)
              << look_of(a).name << " and " << look_of(b).name << ", dark " << dark << ", colour vision: " << eyes.name;
        }
      }
    }
  }
}

TEST(Colours, StatesStandOutFromThePage) {
  for (const ColourVision& eyes : kColourVisions) {
    for (const bool dark : {false, true}) {
      for (const StateLook& look : kStateLooks) {
        for (const Colour under : {theme_of(dark).card, theme_of(dark).lane, theme_of(dark).page})
          EXPECT_GE(distance(look.colour.on(dark), under, eyes), kOnPage)
              << look.name << ", dark " << dark << ", colour vision: " << eyes.name;
      }
    }
  }
}

TEST(Colours, TextOnAColourIsReadable) {
  EXPECT_EQ(text_on(0x000000), 0xffffffu);
  EXPECT_EQ(text_on(0xffffff), kLightTheme.text);
  EXPECT_EQ(text_on(look_of(State::parked).colour.light), 0xffffffu);
  EXPECT_EQ(text_on(look_of(State::at_barrier).colour.light), kLightTheme.text);
}

TEST(Colours, EveryVariableThatTheReportUsesExists) {
  const std::string style(reports::html::kStyle);
  std::size_t used = 0;
  for (std::size_t at = style.find("var(--"); at != std::string::npos; at = style.find("var(--", at + 1), ++used) {
    const std::string name = style.substr(at + 4, style.find_first_of(",)", at + 4) - at - 4);
    for (const bool dark : {false, true})
      EXPECT_NE(css_variables(dark).find(name + ": #"), std::string::npos) << name << ", dark " << dark;
  }
  EXPECT_GT(used, 10u);
  EXPECT_NE(css_variables(false).find("--poll: #d55e00;"), std::string::npos);
  EXPECT_EQ(css_colour(0x0072b2), "#0072b2");
}

}  // namespace
}  // namespace wicprof::analyzer
