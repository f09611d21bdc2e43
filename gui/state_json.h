// The window's state as JSON: the values in its panels, for tests.
#pragma once

#include <string>

#include "gui/app/app.h"
#include "gui/window/ui.h"
#include "protocol/result.h"

namespace wicprof::gui {

/// Writes one JSON document, completely or not at all. Error: the file cannot be written.
Result<> write_state(const App& app, const Ui& ui, const std::string& path);

}  // namespace wicprof::gui
