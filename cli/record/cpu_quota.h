// How often a CPU quota (cgroup v2, cpu.max) has stopped the threads of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/time.h"

namespace wicprof::cli {

struct QuotaCounts {
  std::uint64_t periods = 0;  ///< in which the group used up its quota
  TimeNs throttled_ns = 0;    ///< summed over the CPUs

  QuotaCounts& operator+=(const QuotaCounts& other) {
    periods += other.periods;
    throttled_ns += other.throttled_ns;
    return *this;
  }
};

/// The counts in a file cpu.stat; nothing if it has none.
std::optional<QuotaCounts> read_cpu_stat(const std::string& path);

/// The counts of a process's group and of all groups around it: each may have a quota. Reads which groups these are
/// once, so that the counts are known also after the process has ended.
class CpuQuota {
 public:
  /// `root`: where the groups are mounted.
  explicit CpuQuota(pid_t process, const std::string& root = "/sys/fs/cgroup");

  /// Since the groups exist; nothing without cgroup v2.
  std::optional<QuotaCounts> counts() const;

 private:
  std::vector<std::string> files_;
};

}  // namespace wicprof::cli
