// From what the command line says to the window.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::cli {

struct GuiRequest {
  std::vector<std::string> files;
  std::string session, view, screenshot, script;
  std::string size;  ///< "1440x900"; empty = that
  int scale = 0;     ///< in percent; 0 = as the display asks for
  std::optional<bool> dark;
  bool facts = false;  ///< no window: analyse FILE for the window that asks, and write what is found to standard output
};

/// Opens the window and stays until it is closed. Errors: bad usage; no display; built without the window's libraries.
Result<> open_gui(const GuiRequest& request);

/// Whether a window can be opened at all. Error: no display, or built without the window's libraries.
Result<> can_open_gui();

}  // namespace wicprof::cli
