// The lengths of waits per site and the wake latencies per edge, before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/measure/bootstrap.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// A part of a trace. Only waits that begin and end in it count.
struct Window {
  const TraceModel* model = nullptr;
  TimeNs begin = 0, end = 0;
};

/// Times of one kind on both sides. The compared values are the medians over each iteration's waiters, or single waits
/// if there are too few iterations.
struct Difference {
  std::uint64_t before_count = 0, after_count = 0;  ///< waits
  TimeNs before_p50_ns = 0, after_p50_ns = 0;       ///< over the waits
  std::optional<Speedup> ratio;                     ///< before / after: above 1, shorter; nothing with too few values
  Verdict verdict = Verdict::inconclusive;
};

/// The lengths of the waits at a site, which its name identifies.
struct SiteDifference : Difference {
  std::string site;
};

/// The wake latencies along an edge: from the signals of a device (or the CPU) to the waiters of a device at a site.
struct EdgeDifference : Difference {
  std::string from, to, site;
  std::optional<TimeNs> clock_error_ns;  ///< the worse of both sides; a smaller change is inconclusive
};

struct Differences {
  std::vector<SiteDifference> sites;  ///< most waits before first
  std::vector<EdgeDifference> edges;  ///< most waits before first
};

struct DifferenceOptions {
  double tolerance = 0.02;
  std::size_t min_values = 10;
  BootstrapOptions bootstrap;
};

/// All sites and edges of either side. Keeps no reference to the models.
Differences differences(const std::vector<Window>& before, const std::vector<Window>& after,
                        const DifferenceOptions& options);

}  // namespace wicprof::analyzer
