// The control groups of a process, of version 2 or 1: what they limit.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/time.h"

namespace wicprof::cli {

/// Where the groups are mounted, and where the processes are.
struct CgroupPlaces {
  std::string root = "/sys/fs/cgroup", proc = "/proc";
};

/// The folders of a process's group for a controller ("cpu", "memory") and of all groups around it, innermost first:
/// each may limit the process. Empty for a process that has ended, and without control groups.
std::vector<std::string> cgroup_folders(pid_t process, const std::string& controller, const CgroupPlaces& places = {});

/// Bytes that the groups' limits leave the process; what the kernel can take back (files that it has read) counts as
/// left. Nothing: no group has a limit.
std::optional<std::uint64_t> cgroup_memory_left(pid_t process, const CgroupPlaces& places = {});

struct CpuLimit {
  double cpus = 0;
  TimeNs period = 0;  ///< after which the quota is whole again
};
/// The smallest CPU quota of the groups. Nothing: no group has one.
std::optional<CpuLimit> cgroup_cpu_limit(pid_t process, const CgroupPlaces& places = {});

}  // namespace wicprof::cli
