// A figure as text, CSV, JSON and drawing.
#pragma once

#include <string>
#include <vector>

#include "analyzer/figures/figure.h"
#include "reports/parts/json_parts.h"

namespace wicprof::analyzer {

/// A figure of the list, with its number and title filled in. The number must be one of the list's.
Figure make_figure(int number, const FigureInput& input);

std::string figure_text(const Figure& figure);
/// A header and a line a row (RFC 4180); what is not known is empty. A figure without its data is its header only.
std::string figure_csv(const Figure& figure);
Json figure_value(const Figure& figure);
std::string figure_json(const Figure& figure);
/// An SVG; empty where there is nothing to draw.
std::string figure_svg(const Figure& figure);

}  // namespace wicprof::analyzer
