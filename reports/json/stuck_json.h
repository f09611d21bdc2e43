// What a program that hangs waits for, as a part of a JSON document.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyzer/stuck/stuck.h"
#include "analyzer/trace/trace_model.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

nlohmann::ordered_json stuck_json(const StuckView& view, const StuckAnswer& answer);

/// What the trace of a program that hung keeps as its causes, the likeliest first; null if the program did not hang.
nlohmann::ordered_json hang_json(const TraceModel& model);

}  // namespace wicprof::reports
