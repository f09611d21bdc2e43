#include "analyzer/path/host_room.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/waits/host_waits.h"

namespace wicprof::analyzer {
namespace {

/// A sleeping thread wakes up later than one that polls. Of a step, that is at most this part: the rates of the engine,
/// of storage and of expert dispatch in field.h200x2.json lose less. Not calibrated.
constexpr double kWakeCost = 0.01;
/// CPUs taken by waits below which nothing can be gained. Not calibrated.
constexpr double kLeastCpus = 0.02;
/// Other programs of the machine take as much from a thread. Not calibrated.
constexpr double kHardlyLacking = 0.02;
constexpr double kMostLacking = 0.98;

/// The interval of `times` that holds the whole of [begin, end).
bool lies_within(const std::vector<Interval>& times, TimeNs begin, TimeNs end) {
  const auto after = std::upper_bound(times.begin(), times.end(), begin,
                                      [](TimeNs time, const Interval& interval) { return time < interval.begin; });
  return after != times.begin() && end <= std::prev(after)->end;
}

bool of_wic(std::string_view thread) { return thread.starts_with("wicprof") || thread.starts_with("wic-"); }

/// CPU time of waits that polled, and the time in which they could.
double polled_cpus(const TraceModel& model, const std::vector<Interval>& times) {
  double cpu = 0, length = 0;
  for (const Interval& interval : times) length += static_cast<double>(interval.end - interval.begin);
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.in_call() || wait.strategy != StrategyId::poll || !lies_within(times, wait.begin, wait.end)) continue;
    cpu += static_cast<double>(wait.cpu.value_or(0));
  }
  return length > 0 ? cpu / length : 0;
}

}  // namespace

std::optional<HostRoom> host_room(const TraceModel& model, const std::vector<Interval>& times) {
  if (polled_cpus(model, times) < kLeastCpus) return std::nullopt;
  std::set<store::ProcessId> of_program;
  for (const store::HostWaitRow& wait : model.host_waits) of_program.insert(wait.process);
  struct Tick {
    TimeNs length = 0, lacking = 0;
  };
  std::map<std::pair<store::ProcessId, TimeNs>, Tick> ticks;  // the samples of a moment begin together
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    if (!sample.run_delay || !of_program.contains(sample.process) || of_wic(sample.name)) continue;
    if (!lies_within(times, sample.begin, sample.end)) continue;
    Tick& tick = ticks[{sample.process, sample.begin}];
    tick.length = std::max(tick.length, sample.end - sample.begin);
    tick.lacking = std::max(tick.lacking, std::min(*sample.run_delay, sample.end - sample.begin));
  }
  double whole = 0, lacking = 0;
  for (const auto& [begin, tick] : ticks) {
    whole += static_cast<double>(tick.length);
    lacking += static_cast<double>(tick.lacking);
  }
  if (whole <= 0) return std::nullopt;
  const double share = std::min(lacking / whole, kMostLacking), most = 1 / (1 - share);
  const double value = share <= kHardlyLacking ? 1 : (1 + most) / 2;
  return HostRoom{{value, 1 - kWakeCost, most}, share};
}

}  // namespace wicprof::analyzer
