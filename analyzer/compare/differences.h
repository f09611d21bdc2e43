// The lengths of waits per site, the wake latencies per edge and the power per meter, before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/site_energy.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/measure/unit_ratio.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// A part of a trace. Only waits that begin and end in it count.
struct Window {
  const TraceModel* model = nullptr;
  TimeNs begin = 0, end = 0;
  std::optional<std::uint32_t> block = {};  ///< as Unit::block
};

/// before / after, and what follows from the ratio.
struct JudgedRatio {
  std::optional<Speedup> ratio;          ///< above 1: less after; nothing with too few values
  UnitMethod method = UnitMethod::none;  ///< what the interval of `ratio` is
  Verdict verdict = Verdict::inconclusive;
};

/// Times of one kind on both sides. Each window is one value: the median of its waits.
struct Difference : JudgedRatio {
  std::uint64_t before_count = 0, after_count = 0;  ///< waits
  TimeNs before_p50_ns = 0, after_p50_ns = 0;       ///< the geometric means of the windows' medians
};

/// The lengths of the waits at a site, which its name identifies.
struct SiteDifference : Difference {
  std::string site;
  std::string place;  ///< of a call, after the change if known: TraceModel::site_place()
  /// Of host threads: CPU time per time waited, over the waits whose CPU time is known. 1: the waits spin.
  std::optional<double> before_cpu, after_cpu;
};

/// The wake latencies along an edge: from the signals of a device (or the CPU) to the waiters of a device at a site.
struct EdgeDifference : Difference {
  std::string from, to, site;
  std::optional<TimeNs> clock_error_ns;  ///< the worse of both sides; a smaller change is inconclusive
};

/// The power that a meter of energy (energy.h) reads.
struct MeterDifference : JudgedRatio {
  std::string meter;
  std::size_t before_windows = 0, after_windows = 0;  ///< those that are long enough
  double before_watts = 0, after_watts = 0;           ///< the geometric means of the windows' powers
};

struct Differences {
  std::vector<SiteDifference> sites;    ///< most waits before first
  std::vector<EdgeDifference> edges;    ///< most waits before first
  std::vector<MeterDifference> meters;  ///< those that both sides have
  std::vector<SiteEnergyDifference> site_energy;
};

struct DifferenceOptions {
  double tolerance = 0.02;
  std::size_t min_values = 10;
  UnitDesign design;  ///< its spread is one of the following
  double spread_of_waits = 1, spread_of_latencies = 1;
};

/// All sites and edges of either side, and the meters of both, without site_energy. Keeps no reference to the models.
Differences differences(const std::vector<Window>& before, const std::vector<Window>& after,
                        const DifferenceOptions& options);

}  // namespace wicprof::analyzer
