// A figure as an SVG drawing.
#pragma once

#include <string>

#include "analyzer/figures/figure.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Empty if the figure has no values to draw.
std::string figure_svg(const Figure& figure);

}  // namespace wicprof::reports
