// The program's iterations as its wait sites show them: iteration k begins when the first waiter arrives with number k.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

class Waiters;

struct Iteration {
  std::uint32_t run = 0;  ///< how often the numbering has restarted before (for example with another kernel)
  std::uint32_t number = 0;
  TimeNs begin = 0;
  TimeNs end = 0;  ///< when iteration number + 1 of the same run began
  TimeNs duration() const { return end - begin; }
};

/// The iterations at one site by the waiters of one device (kHostDevice for host threads).
struct Iterations {
  SiteId site = 0;
  std::string site_name;
  DeviceId device = kHostDevice;
  std::uint32_t runs = 0;
  /// In order of time, without iterations that have no successor in their run, since their length is unknown.
  std::vector<Iteration> list;
};

/// For reports: "left on NVIDIA H200".
std::string place_of(const TraceModel& model, const Iterations& iterations);

/// When the numbering of one site's waiters on one device restarts: an arrival at or after starts[i] belongs to run
/// i + 1 or later.
struct RunBoundaries {
  std::vector<TimeNs> starts;
  std::uint32_t run_of(TimeNs arrival) const;
};

/// One waiter's numbering restarts at some time in (after, upto].
struct Restart {
  TimeNs after = 0, upto = 0;
};
/// The smallest set of times that explains all restarts.
RunBoundaries boundaries_of(std::vector<Restart> restarts);

/// From the first iteration, at any place, to the end of the last wait at a wait site: the ground of shares. The
/// program's start-up before it and its tear-down after it are not what an iteration costs. Nothing without iterations,
/// and where they are calls of CUDA that leave out half of the devices' work: a training loop may never wait, but for
/// the copies of its start-up.
std::optional<Interval> iteration_window(const TraceModel& model, const std::vector<Iterations>& iterations);

/// One element per site and device with iterations; most iterations first.
std::vector<Iterations> find_iterations(const TraceModel& model);
/// For callers that have the waiters already.
std::vector<Iterations> find_iterations(const TraceModel& model, const Waiters& waiters);

}  // namespace wicprof::analyzer
