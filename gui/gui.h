// The window's front: opens it, and stays until the user closes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/app.h"
#include "protocol/result.h"

namespace wicprof::gui {

struct GuiPlan {
  AppOptions app;
  int width = 1440, height = 900;  ///< at 100 %
  std::string screenshot;          ///< a PNG; then nobody is waited for
  std::string script;              ///< a file of what a user would do (drive.h); empty = a user does it
};

/// Errors: no display, no OpenGL 3, an image that cannot be written, a script's step that came to nothing. With a
/// screenshot also: a trace that cannot be shown.
Result<> run_gui(const GuiPlan& plan);

/// Whether there is a display to open a window on. Error: there is none.
Result<> check_display();

}  // namespace wicprof::gui
