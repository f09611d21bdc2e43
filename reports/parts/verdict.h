// What a trace says and how much of it, in one sentence: the first line of `analyze`, of every report and the window.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// Decides the colour.
enum class Tone {
  good,  ///< nothing to do, or a change for the better
  bad,   ///< a critical finding, or a change for the worse
  warn,  ///< something to do
  open,  ///< the trace does not answer the question
};

struct TraceVerdict {
  Tone tone = Tone::open;
  std::string headline;  ///< a few words
  std::optional<Cost>
      cost;              ///< of the worst of the findings that the headline names first; nothing where none is known
  std::string detail;    ///< sentences with the figures behind the headline; may be empty
  std::string command;   ///< what to run next; may be empty
  bool settles = false;  ///< `command` answers what the trace leaves open
  /// Before `command`, without a colon.
  std::string_view command_title() const { return settles ? "To settle it" : "Next"; }
};

/// `comparison`: of both modes in the trace, or with another trace; nullptr: none. A change that was measured counts
/// more than what rules say, and that more than what a comparison within the trace or a prediction leaves open.
TraceVerdict trace_verdict(const TraceModel& model, const Analysis& analysis, const Comparison* comparison = nullptr);

}  // namespace wicprof::reports
