// What the window shows, as JSON: the values that its panels hold, for tests.
#pragma once

#include <string>

#include "gui/app.h"
#include "protocol/result.h"

namespace wicprof::gui {

/// One document, whole or not at all. Error: the file cannot be written.
Result<> write_state(const App& app, const std::string& path);

}  // namespace wicprof::gui
