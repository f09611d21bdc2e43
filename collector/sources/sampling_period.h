// How often PC sampling takes a sample.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wicprof::collector {

/// The exponent n of CUPTI's sampling period: CUPTI samples each SM every 2^n cycles. Returns the smallest n (5 to 31)
/// with which `devices` devices of `sm_count` SMs each yield at most `samples_per_second` in total, whatever they run.
/// The period cannot be corrected later: CUPTI (13.0) accepts a new one only while sampling is off, and switching
/// sampling off waits for all kernels, even for those that wait for the program.
inline std::uint32_t sampling_period(std::uint64_t samples_per_second, std::uint32_t sm_count, std::uint64_t clock_hz,
                                     std::uint32_t devices) {
  const double max_rate = static_cast<double>(std::max<std::uint64_t>(samples_per_second, 1));
  const double cycles = static_cast<double>(sm_count) * static_cast<double>(clock_hz) * devices;
  std::uint32_t exponent = 5;
  while (exponent < 31 && cycles / static_cast<double>(std::uint64_t{1} << exponent) > max_rate) ++exponent;
  return exponent;
}

}  // namespace wicprof::collector
