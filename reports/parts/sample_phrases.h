// Phrases about sampled program counters.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// "12.3 k samples on NVIDIA H200, 4 more DROPPED, 1.2 k of them in kernels of the driver or of other programs".
std::string samples_line(const TraceModel& model, const DeviceSamples& device);
/// "long_scoreboard 62 %, barrier 20 %": at most `most`, those below 1 % left out.
std::string reasons_text(const std::vector<StallShare>& reasons, std::size_t most);
/// "poll.cu:7", or "-" if lines are unknown.
std::string hottest_line(const FunctionStalls& function);
/// "poll polls a word at poll.cu:7: 25 % of the samples, 50 % more at the barrier behind it; confidence 0.95".
std::string loop_text(const PollingLoop& loop);

}  // namespace wicprof::reports
