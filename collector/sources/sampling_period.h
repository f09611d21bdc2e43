// How often PC sampling looks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wicprof::collector {

/// The exponent of CUPTI's sampling period: an SM is looked at every 2^n of its cycles. The smallest n (5 to 31) with
/// which `devices` devices of `sm_count` SMs each yield no more than `samples_a_second` together, whatever runs on
/// them. It has to be right from the start: CUPTI (13.0) takes a new period only while sampling is off, and switching
/// it off waits for all kernels, those that wait for the program included.
inline std::uint32_t sampling_period(std::uint64_t samples_a_second, std::uint32_t sm_count, std::uint64_t clock_hz,
                                     std::uint32_t devices) {
  const double looks_at_most = static_cast<double>(std::max<std::uint64_t>(samples_a_second, 1));
  const double cycles = static_cast<double>(sm_count) * static_cast<double>(clock_hz) * devices;
  std::uint32_t exponent = 5;
  while (exponent < 31 && cycles / static_cast<double>(std::uint64_t{1} << exponent) > looks_at_most) ++exponent;
  return exponent;
}

}  // namespace wicprof::collector
