// What keys, the help and the command palette offer: one list.
#pragma once

#include <span>
#include <string_view>

#include "gui/app.h"

namespace wicprof::gui {

struct Action {
  std::string_view name;  ///< for the palette
  std::string_view keys;  ///< separated by blanks: "w", "up"; "" = only through the palette
  std::string_view group;
  void (*run)(App& app);
};
std::span<const Action> actions();

/// A key by its character, or its name: "left", "right", "up", "down", "home", "escape", "enter", "f3", "ctrl+p".
/// False: it means nothing.
bool press(App& app, std::string_view key);

}  // namespace wicprof::gui
