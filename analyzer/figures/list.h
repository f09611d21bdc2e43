// All figures. To add one, write its file and add a line to list.cpp.
#pragma once

#include <span>

#include "analyzer/figures/figure.h"

namespace wicprof::analyzer {

std::span<const FigureInfo> figures();
/// nullptr if there is no figure with that number.
const FigureInfo* figure_by_number(int number);
/// Makes the figure and fills in its number and title. The number must be one of the list's.
Figure make_figure(int number, const FigureInput& input);

}  // namespace wicprof::analyzer
