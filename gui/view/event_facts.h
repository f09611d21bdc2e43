// Everything that is known about one event: what its row records, how it is connected, and what samples say.
#pragma once

#include <vector>

#include "analyzer/machine_code/polling_loops.h"
#include "gui/view/timeline.h"

namespace wicprof::gui {

/// `timeline`: of `model`. `loops`: of the analysis; empty until it is ready.
std::vector<Fact> facts_of(const analyzer::TraceModel& model, const Timeline& timeline,
                           const std::vector<analyzer::PollingLoop>& loops, EventRef ref);

}  // namespace wicprof::gui
