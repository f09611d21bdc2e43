// Site by site and edge by edge: how long waits were before and after, and how late waiters noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/measure/bootstrap.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// A part of a trace: what begins and ends within it counts.
struct Window {
  const TraceModel* model = nullptr;
  TimeNs begin = 0, end = 0;
};

/// Times of one kind on both sides. Each value that is compared is the median over an iteration's waiters; where fewer
/// than the least number of iterations is told apart, each wait is a value.
struct Difference {
  std::uint64_t before_count = 0, after_count = 0;  ///< waits
  TimeNs before_p50_ns = 0, after_p50_ns = 0;       ///< over the waits
  std::optional<Speedup> ratio;                     ///< before / after: above 1 = shorter; nothing with too few values
  Verdict verdict = Verdict::inconclusive;
};

/// The waits at a site, by its name.
struct SiteDifference : Difference {
  std::string site;
};

/// The wake latency along an edge: from a device's (or the CPU's) signals to the waiters of one at a site.
struct EdgeDifference : Difference {
  std::string from, to, site;
  std::optional<TimeNs> clock_error_ns;  ///< the worst on either side; a smaller change has no verdict
};

struct Differences {
  std::vector<SiteDifference> sites;  ///< most waits before first
  std::vector<EdgeDifference> edges;  ///< likewise
};

struct DifferenceOptions {
  double tolerance = 0.02;
  std::size_t min_values = 10;
  BootstrapOptions bootstrap;
};

/// Sites and edges that either side has. The models must outlive the call only.
Differences differences(const std::vector<Window>& before, const std::vector<Window>& after,
                        const DifferenceOptions& options);

}  // namespace wicprof::analyzer
