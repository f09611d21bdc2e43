// Fonts: the first installed one of a list, else ImGui's own.
#pragma once

#include "gui/window/ui.h"

namespace wicprof::gui {

/// Loads the fonts of `ui` at its scale.
void load_fonts(Ui& ui);

}  // namespace wicprof::gui
