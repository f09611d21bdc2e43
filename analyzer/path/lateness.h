// Why host threads, their launches and their kernels were late: each delay with its cause.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/path/idle_times.h"
#include "analyzer/path/work_index.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

enum class LateCause : std::uint8_t {
  kernel,          ///< the work itself ran longer than usual
  launch,          ///< from the call to the work's start, with nothing in front of it
  completion,      ///< the work was done, and the thread, which had a CPU, went on late
  program_asleep,  ///< before the launch: the program slept
  program_busy,    ///< before the launch: the program computed
  program,         ///< before the launch; the trace does not show what the thread did
  throttled,       ///< the thread had no CPU, since a CPU quota had stopped it
  oversubscribed,  ///< the thread had no CPU, since other threads had it
  stolen,          ///< the machine's host had taken the CPU
  no_cpu,          ///< the thread had no CPU, and the trace does not show why
};
inline constexpr std::size_t kLateCauses = 10;
/// "kernel", "launch", ...
std::string_view late_cause_name(LateCause cause);

/// A part of a step that lasted longer than usual. A step of a thread lasts from the end of its wait to the end of the
/// next one.
struct Delay {
  LateCause cause = LateCause::kernel;
  bool sure = false;          ///< the evidence leaves no other cause of this list
  TimeNs begin = 0, end = 0;  ///< of the whole part
  TimeNs late_ns = 0;         ///< beyond the usual length
  TimeNs error_ns = 0;        ///< of late_ns: the clocks' error, and what another cause may have contributed
  TimeNs idle_ns = 0;         ///< of late_ns: the device did nothing
  store::ProcessId process = 0;
  std::uint32_t thread = 0;
  SiteId site = 0;
};

/// The sums of one cause, of all sites or of one.
struct LateSum {
  SiteId site = 0;  ///< of the step's wait; 0: all, or waits whose place is not known
  LateCause cause = LateCause::kernel;
  std::uint64_t count = 0, sure = 0;
  TimeNs late_ns = 0, error_ns = 0, idle_ns = 0;
  TimeNs at_once_ns = 0;  ///< of late_ns: several threads that are late at the same time count once
};

struct Lateness {
  /// Whose work is known, with enough steps alike to say what is usual; this and the sums: of the ground.
  std::uint64_t steps = 0;
  std::vector<Delay> delays;     ///< of the whole trace, in order of begin
  std::vector<LateSum> sums;     ///< the causes that occur, longest first
  std::vector<LateSum> by_site;  ///< the same for each site, the longest first

  const LateSum* sum(LateCause cause) const;
};

/// Compares the parts of each step with what is usual: the median of steps with as much work at the same site, and for
/// the two latencies the tenth percentile or less, since a machine can be late in every step. Where a thread's run
/// delay (of its wait, or of its samples outside of waits) explains the delay, the thread had no CPU. What ends
/// before `ground` or begins after it, as start-up does, counts in no sum.
Lateness lateness(const TraceModel& model, const DeviceWork& work, const WorkIndex& index, const IdleTimes& idle,
                  Interval ground);

}  // namespace wicprof::analyzer
