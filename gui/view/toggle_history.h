// How to go back from a toggle of a running program.
#pragma once

#include <vector>

#include "protocol/control_messages.h"

namespace wicprof::gui {

/// The requests that restore what the toggle replaced, in the order in which to send them. Empty if the session belongs
/// to an older wic-prof, which does not say. A toggle of the whole program ends the ways of single sites, so to undo it
/// sets those again.
std::vector<ToggleRequest> undo_of(const ToggleReply& toggle);

}  // namespace wicprof::gui
