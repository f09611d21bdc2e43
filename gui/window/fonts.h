// The fonts: of those that the machine has, the first of a list; ImGui's own where it has none.
#pragma once

#include "gui/window/ui.h"

namespace wicprof::gui {

/// Fills in the fonts of `ui` for its scale.
void load_fonts(Ui& ui);

}  // namespace wicprof::gui
