// Synthetic traces: all their times are known, so the correct results of the analyzer are known too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer::synthetic {

/// A model with the CPU, one device and one site; not settled yet.
TraceModel empty_program();

store::SiteRow& declare_site(TraceModel& model, SiteId id, const std::string& name, WordMemory memory,
                             std::uint32_t words = 1);
void declare_device(TraceModel& model, DeviceId id, TimeNs clock_error_ns);

/// A sequence of iterations in which the CPU releases all waiters of one site.
struct Handoff {
  SiteId site = 1;
  DeviceId device = 0;
  std::uint32_t waiters = 8;
  std::uint32_t sms = 4;
  std::size_t iterations = 50;
  std::uint32_t first_iteration = 0;
  TimeNs start = 1'000'000'000;
  TimeNs wake_latency = 1'500;
  std::uint32_t polls = 100;
  StrategyId strategy = StrategyId::poll;
  /// The length of iteration i; waiters wait for 80 % of it.
  std::function<TimeNs(std::size_t)> period = [](std::size_t) { return TimeNs{1'000'000}; };
};
/// Returns the end of the last iteration.
TimeNs add_handoff(TraceModel& model, const Handoff& handoff);

/// Iteration `number`, which lasts `period` from `start`, with `forth` transfers from the CPU to device 0 (site 1) and
/// `back` the other way (site 2).
void add_exchange(TraceModel& model, std::uint32_t number, TimeNs start, TimeNs period, std::uint32_t forth,
                  std::uint32_t back);

/// A program in phases of `iterations` each: poll, park, poll, park, ... with an intervention at each change.
struct Phases {
  std::size_t phases = 2;
  std::size_t iterations = 60;
  std::function<TimeNs(Mode, std::size_t)> period;
};
TraceModel phased_program(const Phases& phases);

/// A program without wait sites: each step of `period(step)` is an NVTX range "step", launches the kernel "first",
/// every other one "second", and then a host thread waits in a call of CUDA. A toggle of host waits before step `steps
/// / 2`.
TraceModel program_without_sites(
    std::uint32_t steps = 40,
    const std::function<TimeNs(std::uint32_t)>& period = [](auto) { return TimeNs{1'000'000}; });

/// The same trace with all times shifted by `by`.
TraceModel shifted(TraceModel model, TimeNs by);
/// The same trace with other numbers for the devices; the CPU keeps its number.
TraceModel renamed_devices(TraceModel model, const std::function<DeviceId(DeviceId)>& rename);

store::StatRow lost(std::int64_t count);

}  // namespace wicprof::analyzer::synthetic
