// Parts that several panels share.
#pragma once

#include "gui/panels/panel.h"

namespace wicprof::gui {

/// Tiles for both segments and the verdict.
void draw_before_after(const Ui& ui, const BeforeAfter& values);
/// Draws progress or an error when the panel's values are not ready; returns whether it did.
bool draw_not_ready(App& app, const Ui& ui, bool needs_facts);

}  // namespace wicprof::gui
