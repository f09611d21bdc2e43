// Walking along who woke whom: from a wait to the signal that ended it, from there to what the signaller had waited
// for, and the same way back.
#pragma once

#include <optional>

#include "gui/view/timeline.h"

namespace wicprof::gui {

/// One step back: of a wait, the signal that ended it; of a signal, the last wait that its sender had behind it.
std::optional<EventRef> step_back(const analyzer::TraceModel& model, const Timeline& timeline, EventRef from);
/// One step on: of a signal, the first wait that it ended; of a wait, the next signal that the waiter sent.
std::optional<EventRef> step_on(const analyzer::TraceModel& model, const Timeline& timeline, EventRef from);

/// The next and the previous one in the event's row.
std::optional<EventRef> neighbour(const Timeline& timeline, EventRef from, int direction);

}  // namespace wicprof::gui
