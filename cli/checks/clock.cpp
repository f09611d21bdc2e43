// The resolution and cost of the clock that all times come from.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "cli/checks/check.h"
#include "protocol/time.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Clock>(const Machine&) {
  constexpr int kReadings = 20'000;
  TimeNs smallest_step = std::numeric_limits<TimeNs>::max();
  const TimeNs begin = now_ns();
  TimeNs last = begin;
  for (int i = 0; i < kReadings; ++i) {
    const TimeNs now = now_ns();
    if (now > last) smallest_step = std::min(smallest_step, now - last);
    last = now;
  }
  const TimeNs cost = (last - begin) / kReadings;
  std::string source = "unknown source";
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  Check check{"clock",
              CheckState::ok,
              fmt::format("CLOCK_MONOTONIC ({}): steps of {} ns, {} ns per reading", source, smallest_step, cost),
              {},
              false};
  constexpr TimeNs kCoarse = 10 * kMicrosecond;  // too coarse for waits of microseconds
  if (smallest_step > kCoarse || cost > kCoarse) {
    check.state = CheckState::missing;
    check.cure = "short waits will be measured badly; boot with clocksource=tsc if the CPU has a stable TSC";
  }
  return {check};
}

}  // namespace wicprof::cli
