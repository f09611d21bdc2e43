// A panel: draws one view.
#pragma once

#include <memory>
#include <string_view>

#include "gui/app/app.h"
#include "gui/window/ui.h"

namespace wicprof::gui {

/// Keeps the view's own interaction state as members, so that two windows in one process share none.
class Panel {
 public:
  Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  virtual ~Panel() = default;

  /// Draws into the open ImGui window, which covers the whole area of the view. Once per frame.
  virtual void draw(App& app, const Ui& ui) = 0;
};

/// Each file in this folder specialises it for its own panel.
template <class Kind>
std::unique_ptr<Panel> make_panel();

struct PanelKind {
  ViewName name;           ///< for options and scripts
  std::string_view title;  ///< on its tab
  std::unique_ptr<Panel> (*make)();
};

}  // namespace wicprof::gui
