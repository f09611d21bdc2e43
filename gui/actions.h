// The actions that keys, the help and the command palette offer: one list for all three.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "gui/app/app.h"

namespace wicprof::gui {

struct Action {
  std::string_view name;  ///< for the palette
  std::string_view keys;  ///< separated by spaces: "w up"; "" = palette only
  std::string_view group;
  std::function<void(App& app)> run;
  /// What the screen says after the first press of the key; the second press acts. "": the first press acts.
  std::string_view question = {};
};
/// The list in actions.cpp, and one action per panel.
std::span<const Action> actions();

/// Runs the action of a key, named by its character or by "left", "right", "up", "down", "home", "end", "escape", "f3"
/// or "ctrl+p". Returns false when no action has this key.
bool press(App& app, std::string_view key);

}  // namespace wicprof::gui
