// What the status bar says: what is missing first, then what recording cost, then what there is.
#pragma once

#include <cstdint>
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

/// How many of each there are: of a large trace more than its model has.
struct Contents {
  std::uint64_t waits = 0, signals = 0, kernels = 0, calls = 0;
};
Contents contents_of(const analyzer::TraceModel& model);

/// `analysis` may be nullptr: not worked out yet. `recording`: more will come, so that a trace without an end lacks
/// nothing.
StatusLine status_line(const analyzer::TraceModel& model, const analyzer::Analysis* analysis, const Contents& contents,
                       bool recording);
/// Its part that comes from the analysis.
std::string overhead_words(const analyzer::Analysis& analysis);

}  // namespace wicprof::gui
