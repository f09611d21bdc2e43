// Processes, host polling, streams that wait, clocks and what recording cost, on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// All of the below with an empty line between them; empty where there is nothing to say.
std::string activity_text(const TraceModel& model, const Analysis& analysis, std::size_t most);
/// Only where several processes took part.
std::string processes_text(const TraceModel& model, std::size_t most);
std::string polling_text(const Analysis& analysis, std::size_t most);
std::string stream_waits_text(const TraceModel& model, const Analysis& analysis, std::size_t most);
/// "CUPTI's clock of cuda:0 is right within -1.20 us..+3.40 us".
std::string clocks_text(const TraceModel& model, const Analysis& analysis);
std::string own_cost_text(const Analysis& analysis);

}  // namespace wicprof::reports
