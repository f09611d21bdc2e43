// The drawing of a figure: its bars or lines, with the ranges of its axes. The SVG export and the window draw it.
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
  std::string label;           ///< the trace, the mode and the site, as far as the figure distinguishes them
  std::optional<State> state;  ///< for a mode, polling or parked; otherwise the position in the list gives the colour
  std::vector<std::pair<double, double>> points;  ///< for a bar one point, (0, value)
  std::optional<double> low, high;                ///< a bar's interval, if the figure has one
  std::size_t dash = 0;                           ///< below kDashes; distinguishes lines of one state
};

struct FigurePlot {
  bool bars = false;
  std::vector<FigureSeries> series;
  std::size_t left_out = 0;  ///< series that do not fit the drawing
  std::string x_title, y_title;
  double x_least = 0, x_most = 1, y_least = 0, y_most = 1;
  /// Lines: x, because numbers of threads rise by factors. Bars: y, if the values differ too much for one linear axis.
  bool logarithmic = false;
  bool shares = false;  ///< y is a share of a whole

  /// Positions: from 0 at the left to 1 at the right, and from 0 at the bottom to 1 at the top.
  double x_part(double x) const;
  double y_part(double y) const;
  /// A value of y in the axis's notation.
  std::string value_text(double value) const;
};

/// Without series if the figure has nothing to draw.
FigurePlot plot_of(const Figure& figure);

}  // namespace wicprof::analyzer
