// The panels, one a view, in the order of View. A new one: its file in this folder, its line in list.cpp, its View.
#pragma once

#include <span>

#include "gui/window/ui.h"

namespace wicprof::gui {

/// Draws into the ImGui window that is open, which is the view's whole area.
using DrawPanel = void (*)(App& app, const Ui& ui);
std::span<const DrawPanel> panels();

void draw_timeline_panel(App& app, const Ui& ui);
void draw_sites_panel(App& app, const Ui& ui);
void draw_findings_panel(App& app, const Ui& ui);
void draw_stalls_panel(App& app, const Ui& ui);
void draw_figures_panel(App& app, const Ui& ui);
void draw_compare_panel(App& app, const Ui& ui);
void draw_live_panel(App& app, const Ui& ui);

/// Parts that more than one panel shows.
void draw_timeline(App& app, const Ui& ui, Rect where);
void draw_before_after(App& app, const Ui& ui, const BeforeAfter& values);
/// Something in place of a panel whose values are not there; true when it was drawn.
bool draw_not_ready(App& app, const Ui& ui, bool needs_facts);

}  // namespace wicprof::gui
