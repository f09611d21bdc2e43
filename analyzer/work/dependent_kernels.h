// Pairs of kernels of which the second starts when the first is done: what the last wave, the gap and waiting inside
// kernels cost, and what an earlier start could gain (tile_gain.h), summed by pair.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/work/followers.h"
#include "analyzer/work/pair_kernel.h"
#include "analyzer/work/tile_gain.h"

namespace wicprof::analyzer {

/// Why a pair's waves are not known.
enum class NoWaves : std::uint8_t {
  known,
  no_limits,    ///< the trace lacks the device's limits
  clusters,     ///< how many clusters fit at once is not in the trace
  no_launches,  ///< each launch started early, ran beside a third kernel, or has waits inside
};
/// One sentence for people; empty for `known`.
std::string_view no_waves_reason(NoWaves why);

struct DependentPair {
  PairKernel producer, consumer;
  DeviceId device = 0;
  /// Of the consumer, right behind the producer; the next times are sums over these.
  std::uint64_t launches = 0;
  std::uint64_t in_graphs = 0;  ///< of these, both in one launch of a graph, whose edges a trace lacks
  TimeNs producer_ns = 0, consumer_ns = 0, gap_ns = 0;
  /// Launches of the consumer that are not among these: they started before the producer's end, beside a third kernel,
  /// or with waits inside one of both kernels.
  std::uint64_t early = 0, beside = 0, waiting = 0;
  TimeNs overlap_ns = 0;  ///< of the early launches
  /// SM time in which a block waited at a wait site, in ns times SMs, in all launches of the pair. Other blocks of that
  /// SM may have worked meanwhile.
  TimeNs producer_held_sm_ns = 0, consumer_held_sm_ns = 0;

  // Sums over `launches`: the gain of a mean launch, times their number.
  NoWaves why = NoWaves::known;
  Bound dependent;                                ///< programmatic dependent launch
  std::optional<Bound> tiles, carve_out;          ///< empty if the waves are not known
  std::optional<Bound> idle_sm_ns;                ///< in the producer's last wave
  std::optional<double> prologue_at_most_ns;      ///< of the consumer; how long it is in truth is unknown
  std::uint32_t carve_out_sms = 0, sm_count = 0;  ///< SMs that the consumer would have alone; 0: none pays

  /// The largest expected gain of the three.
  double best_ns() const;
  /// Whether that gain is worth naming in a trace of this length: then the rule dependent_kernels has a finding.
  bool worth_naming(double whole_ns) const;
};
/// Shares of the traced time. A comparison counts 2 % as a change.
inline constexpr double kWorthNamingPair = 0.02;

struct DependentKernels {
  std::vector<DependentPair> pairs;  ///< largest expected gain first, at most kMostPairs
  std::uint64_t pairs_left_out = 0;
  std::uint64_t launches = 0, early = 0, beside = 0, waiting = 0, late = 0, after_copy = 0;  ///< of all pairs
  /// Sums over the pairs that are listed. Pairs in turn share a kernel, whose idle time counts in the high ends of
  /// both.
  Bound tiles, dependent, carve_out;
};
inline constexpr std::size_t kMostPairs = 2'000;

/// `held`: held_sm_time(). Linear in the number of kernels.
DependentKernels dependent_kernels(const TraceModel& model, const Followers& followers,
                                   const std::vector<TimeNs>& held);

/// A picture of a pair in stream order, for the reports and the window: one bar per run of equal waves. Times are
/// shares of the whole; `fill` is the share of the device.
struct WaveBar {
  bool consumer = false;
  double begin = 0, end = 0, fill = 0;
  std::uint64_t waves = 0;  ///< as one bar
};
/// At most four bars; empty if the waves are not known.
std::vector<WaveBar> wave_bars(const DependentPair& pair);

}  // namespace wicprof::analyzer
