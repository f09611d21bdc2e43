// ImGui's colours, from the shared palette (analyzer/words/colours.h), and its sizes.
#pragma once

#include "gui/window/ui.h"

namespace wicprof::gui {

/// Applies the scale and the theme of `ui`.
void apply_style(const Ui& ui);

}  // namespace wicprof::gui
