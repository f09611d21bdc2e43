// The answers on the screen: the summary after `run`, and the answers of `analyze` and `compare`.
#pragma once

#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

struct AnalysisView {
  Screen screen = {};
  bool verbose = false;                    ///< with all tables, and with the rules that could not look
  const Comparison* comparison = nullptr;  ///< of both modes in the trace, if the trace has both
  std::string file = {};                   ///< how the user named the trace; empty: by the trace's own name
};

/// Fits on one screen of about 40 lines.
std::string summary_text(const TraceModel& model, const Analysis& analysis, const Screen& screen = {});
/// Begins with the verdict and the worst findings.
std::string analysis_text(const TraceModel& model, const Analysis& analysis, const AnalysisView& view = {});
std::string comparison_text(const Comparison& comparison, const Screen& screen = {});

}  // namespace wicprof::reports
