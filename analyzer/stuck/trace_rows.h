// What the tables of a trace, perhaps a growing one, say about a program that hangs.
#pragma once

#include <optional>
#include <string>

#include "analyzer/stuck/stuck.h"
#include "analyzer/trace/trace_model.h"
#include "protocol/result.h"

namespace wicprof::analyzer {

/// Reads the tables that add_rows() takes, and nothing else.
Result<TraceModel> load_stuck_rows(const store::Reader& reader, std::string name);

/// Adds processes, the last messages and signals, writers that may be, and the samples of the last seconds before
/// StuckView::now. Processes that the view has get their names and ranks. If the process that wic-prof has started is a
/// rank, the launcher is outside of the recording, and so may other ranks be.
void add_rows(const TraceModel& model, StuckView& view);

/// What a program that hung waited for.
struct RecordedHang {
  StuckView view;
  StuckAnswer answer;  ///< at least one cause
};
/// As the trace keeps it. Nothing: the program did not hang, or somebody has changed the trace. Of joined traces, one
/// that hung.
std::optional<RecordedHang> recorded_hang(const TraceModel& model);

}  // namespace wicprof::analyzer
