// What the user has toggled in a running program, and how to go back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/control_messages.h"

namespace wicprof::gui {

/// The requests that restore what held before the last of `done`, in the order in which to send them. Empty if nothing
/// was toggled. `first`: how the program waited before the first of `done`.
/// A toggle of the whole program ends the ways of single sites, so to undo it sets those again.
std::vector<ToggleRequest> undo_of(const ToggleRequest& first, const std::vector<ToggleRequest>& done);

}  // namespace wicprof::gui
