// Keeps threads to a few CPUs, as a container with a CPU set does.
#pragma once

#include <sched.h>

#include <cstdint>

namespace sample {

/// While it lives, the thread that made it runs on the first `cpus` of its CPUs alone. 0: no limit. Where the system
/// refuses, the thread goes on without a limit.
class CpuLimit {
 public:
  explicit CpuLimit(std::uint32_t cpus) {
    if (cpus == 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t some;
    CPU_ZERO(&some);
    std::uint32_t taken = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && taken < cpus; ++cpu) {
      if (!CPU_ISSET(cpu, &before_)) continue;
      CPU_SET(cpu, &some);
      ++taken;
    }
    limited_ = sched_setaffinity(0, sizeof some, &some) == 0;
  }
  CpuLimit(const CpuLimit&) = delete;
  ~CpuLimit() {
    if (limited_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool limited_ = false;
};

}  // namespace sample
