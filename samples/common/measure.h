// What programs and benchmarks measure alike.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "wic/types.h"

namespace sample {

/// CPU time of all threads of the process.
inline wic::TimeNs process_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * wic::kSecond + now.tv_nsec;
}

/// The value below which that share of the values lies (0.5: the lower median); 0 if there are none.
inline double at_share(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace sample
