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
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace sample
