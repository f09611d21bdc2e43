// The program's CPU threads on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// How long each of the program's sampled threads ran, of the run's whole length. Empty without samples.
std::string threads_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);

}  // namespace wicprof::reports
