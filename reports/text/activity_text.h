// Processes, host polling, waiting streams, clocks and the cost of recording, on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// All of the below, separated by empty lines; empty if there is nothing to say.
std::string activity_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);
std::string stream_waits_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                              const Screen& screen);
/// "CUPTI's clock of cuda:0 is correct within -1.20 us..+3.40 us".
std::string clocks_text(const TraceModel& model, const Analysis& analysis, const Screen& screen);
std::string own_cost_text(const Analysis& analysis, const Screen& screen);

}  // namespace wicprof::reports
