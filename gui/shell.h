// The whole window: tabs above the panel, the status bar below, and search, help and the command palette over it.
#pragma once

#include <memory>
#include <vector>

#include "gui/panels/panel.h"

namespace wicprof::gui {

/// Owns the panels, and with them the interaction state of one window.
class Shell {
 public:
  Shell();

  /// Draws one frame, between ImGui::NewFrame() and ImGui::Render().
  void draw(App& app, const Ui& ui);

 private:
  std::vector<std::unique_ptr<Panel>> panels_;  // in the order of kPanels
  bool search_was_open_ = false, palette_was_open_ = false;
};

}  // namespace wicprof::gui
