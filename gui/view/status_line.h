// The status bar: losses first, then the cost of recording, then the contents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"

namespace wicprof::gui {

struct StatusLine {
  std::vector<std::string> losses;  ///< full sentences; empty when no loss is known
  std::string loss;                 ///< short form
  std::string overhead;             ///< "" = unknown
  std::string contents;             ///< "12.3 k waits, 4 kernels in 6.02 s"
};

/// Event counts of the whole trace; the model of a large trace holds fewer.
struct Contents {
  std::uint64_t waits = 0, signals = 0, kernels = 0, calls = 0;
  std::uint64_t samples = 0;  ///< of threads; named only where there is nothing else
};
Contents contents_of(const analyzer::TraceModel& model);

/// `analysis`: nullptr until known. `recording`: the trace is still growing, so a missing end is no loss.
StatusLine status_line(const analyzer::TraceModel& model, const analyzer::Analysis* analysis, const Contents& contents,
                       bool recording);
/// The text for StatusLine::overhead; "" = unknown.
std::string overhead_words(const analyzer::Analysis& analysis);

}  // namespace wicprof::gui
