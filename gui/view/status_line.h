// What the status bar says: what is missing first, then what recording cost, then what there is.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace wicprof::gui {

struct StatusLine {
  std::vector<std::string> losses;  ///< whole sentences; empty when nothing is known to be missing
  std::string loss;                 ///< in a few words
  std::string overhead;             ///< "" = not known
  std::string contents;             ///< "12.3 k waits, 4 kernels in 6.02 s"
};

/// `analysis` may be nullptr: not worked out yet.
StatusLine status_line(const analyzer::TraceModel& model, const analyzer::Analysis* analysis);

}  // namespace wicprof::gui
