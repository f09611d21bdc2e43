// The command that runs a trace's program again.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// "wic-prof run OPTIONS -- APP ARGS" with the program's own words; empty where the trace does not know them.
std::string run_command(const TraceModel& model, std::string_view options);
/// The same; where the trace does not know them, with the word APP in their place.
std::string run_command_or_form(const TraceModel& model, std::string_view options);

}  // namespace wicprof::analyzer
