// What the verbs that record share: options about the trace, and what they say at its end.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/record/capture.h"
#include "cli/record/last_words.h"
#include "cli/record/run_app.h"
#include "protocol/time.h"

namespace wicprof::cli {

void add_trace_options(CLI::App& verb, RunPlan& plan, CaptureOptions& capture);
/// After add_trace_options().
void add_dump_options(CLI::App& verb, CaptureOptions& capture);

/// What the summary of a run found out about the trace.
struct TraceFacts {
  bool empty = false;          ///< the program did nothing that wic-prof records
  std::optional<TimeNs> took;  ///< the run's length
  std::string command;         ///< the program's
  bool cut = false;            ///< a process ended before CUPTI handed over its last records
};

/// Says what the trace shows, unless the program failed before there was anything to show.
TraceFacts print_summary(const RunOutcome& outcome);

/// Says so where the trace is lost, or not complete.
void report_incomplete(const RunOutcome& outcome);

void report_end(const RunOutcome& outcome, const LastWords& last_words, const TraceFacts& facts);

/// The traces of a run in several.
std::string traces_text(const RunOutcome& outcome, const SegmentPlan& plan);

}  // namespace wicprof::cli
