// Draws a figure: horizontal bars, or lines over an axis with a legend below.
#pragma once

#include "analyzer/figures/plot.h"
#include "gui/window/ui.h"

namespace wicprof::gui {

/// Height of the plot, in pixels.
float plot_height(const Ui& ui, const analyzer::FigurePlot& plot);
/// Draws at ImGui's cursor, over the available width. The plot must have at least one series.
void draw_plot(const Ui& ui, const analyzer::FigurePlot& plot);

}  // namespace wicprof::gui
