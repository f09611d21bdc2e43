// Steps along wake edges: from a wait to the signal that ended it, from a signal to the last wait of its sender, and
// in the other direction.
#pragma once

#include <optional>

#include "gui/view/timeline.h"

namespace wicprof::gui {

/// From a wait: the signal that ended it. From a signal: the last wait that its sender completed before.
std::optional<EventRef> step_back(const analyzer::TraceModel& model, const Timeline& timeline, EventRef from);
/// From a signal: the first wait that it ended. From a wait: the next signal that the waiter sent.
std::optional<EventRef> step_on(const analyzer::TraceModel& model, const Timeline& timeline, EventRef from);

/// The next (`direction` 1) or previous (-1) event in the same row.
std::optional<EventRef> neighbour(const Timeline& timeline, EventRef from, int direction);

}  // namespace wicprof::gui
