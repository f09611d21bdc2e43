// What the timeline says before the user selects anything: the answer, the worst findings and the next command.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/parts/verdict.h"

namespace wicprof::gui {

struct FirstWords {
  reports::TraceVerdict verdict;   ///< as analyze begins; the command is never empty
  std::vector<std::size_t> worst;  ///< indices of the first findings, at most kMostFindings
  static constexpr std::size_t kMostFindings = 3;
};

/// `path`: the trace's file, for commands.
FirstWords first_words(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                       const analyzer::Comparison& comparison, const std::string& path);

}  // namespace wicprof::gui
