// The window's entry points.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gui/app/app.h"
#include "protocol/result.h"

namespace wicprof::gui {

struct GuiPlan {
  AppOptions app;
  int width = 1440, height = 900;  ///< at 100 %
  std::string screenshot;          ///< write this PNG and return, instead of waiting for a user
  std::string script;              ///< a file with user actions (drive.h); "" = a user acts
};

/// Opens the window and returns when it closes. Main thread only. A screenshot, and a script where there is no display,
/// need no display. Errors: no display, no OpenGL 3, an image that cannot be written, a script step that failed. With a
/// screenshot also: a trace that cannot be shown.
Result<> run_gui(const GuiPlan& plan);

/// Error: no display to open a window on.
Result<> check_display();

/// The view of that name, such as "timeline"; nothing for other names.
std::optional<ViewName> view_from_name(std::string_view name);

}  // namespace wicprof::gui
