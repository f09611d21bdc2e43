// How often a CPU quota (of a control group) has stopped the threads of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/record/cgroup.h"
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
  QuotaCounts& operator-=(const QuotaCounts& other) {
    periods -= other.periods;
    throttled_ns -= other.throttled_ns;
    return *this;
  }
};

/// The counts in a file cpu.stat; nothing if it has none.
std::optional<QuotaCounts> read_cpu_stat(const std::string& path);

/// The counts of a process's group and of all groups around it: each may have a quota. One thread at a time.
class CpuQuota {
 public:
  explicit CpuQuota(pid_t process, CgroupPlaces places = {});

  /// Looks whether the process has moved to another group, which container tools do with running programs. The counts
  /// then go on with the new group's. Call now and then; after the process's end nothing changes.
  void follow();

  /// Since the first groups exist; nothing without control groups.
  std::optional<QuotaCounts> counts() const;

 private:
  /// The files cpu.stat of the process's group and of those around it; empty for a process that has ended.
  std::vector<std::string> files_now() const;

  pid_t process_;
  CgroupPlaces places_;
  std::vector<std::string> files_;
  QuotaCounts earlier_;  // of groups that the process has left, less what the present ones had before
};

}  // namespace wicprof::cli
