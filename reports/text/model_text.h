// The wait model, interference, overlap, critical path and prediction on the screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// Each ends with a newline, or is empty if it has nothing to say.
std::string wait_model_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);
std::string interference_text(const TraceModel& model, const Analysis& analysis, std::size_t most,
                              const Screen& screen);
std::string overlap_text(const Analysis& analysis, const Screen& screen);
std::string critical_path_text(const Analysis& analysis, std::size_t most, const Screen& screen);
std::string prediction_text(const Analysis& analysis, std::size_t most, const Screen& screen);

/// All of the above, separated by empty lines.
std::string models_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);

}  // namespace wicprof::reports
