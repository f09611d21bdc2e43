#include "collector/waits/cpu_meter.h"

#include <algorithm>

namespace wicprof::collector {

CpuMeter::Reading CpuMeter::read() {
  Reading reading;
  reading.switches = Switches::now();
  reading.run_delay = run_delay_.read(reading.switches);
  reports_run_delay_ = reading.run_delay >= 0;
  reading.cpu = thread_cpu_ns();
  reading.wall = now_ns();
  return reading;
}

CpuUse CpuMeter::end_long(TimeNs begin, TimeNs end) {
  const TimeNs length = end - begin;
  std::uint8_t& short_waits = short_waits_[place_];
  short_waits = length < kDelayed && short_waits > 0 ? short_waits - 1 : 0;
  if (!measures_) {
    slept_cpu_ = -1;  // perhaps here
    return {};
  }
  const TimeNs cpu = thread_cpu_ns();
  CpuUse use;
  use.cpu = std::clamp<TimeNs>(cpu - first_.cpu, 0, length);
  Reading now = last_;
  const TimeNs away = (end - last_.wall) - (cpu - last_.cpu);
  if (away >= kAway) {
    now.switches = Switches::now();
    now.run_delay = run_delay_.read(now.switches);
  }
  use.involuntary_switches = static_cast<std::uint32_t>(now.switches.involuntary - first_.switches.involuntary);
  if (now.run_delay >= 0 && first_.run_delay >= 0) use.run_delay = now.run_delay - first_.run_delay;
  if (length - use.cpu - std::max<TimeNs>(use.run_delay, 0) >= kAway) {
    if (slept_cpu_ >= 0) use.computed = first_.cpu - slept_cpu_;
    slept_cpu_ = cpu;
  }
  return use;
}

}  // namespace wicprof::collector
