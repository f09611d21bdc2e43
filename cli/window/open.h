// Opens the window that the command line asks for.
#pragma once

#include "cli/window/request.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Opens the window and returns when the user has closed it. Errors: bad usage; no display.
Result<> open_gui(const GuiRequest& request);

}  // namespace wicprof::cli
