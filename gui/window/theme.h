// ImGui's own colours and sizes, from the colours of all pictures (analyzer/words/colours.h).
#pragma once

#include "gui/window/ui.h"

namespace wicprof::gui {

/// For the scale and the theme of `ui`.
void apply_style(const Ui& ui);

}  // namespace wicprof::gui
