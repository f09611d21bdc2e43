// What stands around the panels: the tabs above, the status bar below, search, help and the command palette over them.
#pragma once

#include "gui/window/ui.h"

namespace wicprof::gui {

/// One frame of the whole window, between ImGui::NewFrame() and ImGui::Render().
void draw_shell(App& app, const Ui& ui);

}  // namespace wicprof::gui
