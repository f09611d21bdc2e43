// What a drawing of a figure shows: its bars or lines, with the ranges of its axes. Drawn as SVG and in the window.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/figures/figure.h"
#include "analyzer/words/colours.h"

namespace wicprof::analyzer {

inline constexpr std::size_t kDashes = 4;

struct FigureSeries {
  std::string label;           ///< the trace, the mode and the site, as far as the figure tells them apart
  std::optional<State> state;  ///< of a mode: polling or parked; else its place among the series tells its colour
  std::vector<std::pair<double, double>> points;  ///< of a bar: one, (0, value)
  std::optional<double> low, high;                ///< a bar's interval, where the figure has one
  std::size_t dash = 0;                           ///< lines of one state are told apart by their dashes: below kDashes
};

struct FigurePlot {
  bool bars = false;
  std::vector<FigureSeries> series;
  std::size_t left_out = 0;  ///< series beyond the most that a drawing can show
  std::string x_title, y_title;
  double x_least = 0, x_most = 1, y_least = 0, y_most = 1;
  bool logarithmic =
      false;            ///< x: numbers of threads go up by factors; y of bars that differ by far more than one can see
  bool shares = false;  ///< y is a part of a whole

  /// From 0 at the left to 1 at the right, and from 0 at the bottom to 1 at the top.
  double x_part(double x) const;
  double y_part(double y) const;
  /// A value of y, as its axis has it.
  std::string value_text(double value) const;
};

/// A plot without series where the figure has nothing to draw.
FigurePlot plot_of(const Figure& figure);

}  // namespace wicprof::analyzer
