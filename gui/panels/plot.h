// A figure as a plot: bars that lie, or lines over an axis, with its legend below.
#pragma once

#include "analyzer/figures/plot.h"
#include "gui/window/ui.h"

namespace wicprof::gui {

/// How high it is.
float plot_height(const Ui& ui, const analyzer::FigurePlot& plot);
/// At ImGui's cursor, as wide as there is room. The plot must have series.
void draw_plot(const Ui& ui, const analyzer::FigurePlot& plot);

}  // namespace wicprof::gui
