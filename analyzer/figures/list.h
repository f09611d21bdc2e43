// All figures. To add one, write its file, declare it here, and add a line to list.cpp.
#pragma once

#include <span>

#include "analyzer/figures/figure.h"

namespace wicprof::analyzer {

std::span<const FigureInfo> figures();
/// nullptr if there is no figure with that number.
const FigureInfo* figure_by_number(int number);
/// Makes the figure and fills in its number and title. The number must be one of the list's.
Figure make_figure(int number, const FigureInput& input);

Figure figure_2(const FigureInput& input);
Figure figure_4(const FigureInput& input);
Figure figure_5(const FigureInput& input);
Figure figure_6(const FigureInput& input);
Figure figure_7(const FigureInput& input);
Figure figure_12(const FigureInput& input);
Figure figure_13(const FigureInput& input);
Figure figure_14(const FigureInput& input);
Figure figure_15(const FigureInput& input);
Figure figure_16(const FigureInput& input);

}  // namespace wicprof::analyzer
