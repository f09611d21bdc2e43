// What the source `host` reads about threads.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct SchedulerStatistics>(const Machine&) {
  const bool times = access("/proc/self/schedstat", R_OK) == 0;
  const bool children = access(fmt::format("/proc/self/task/{}/children", getpid()).c_str(), R_OK) == 0;
  Check check{"scheduler statistics",
              CheckState::ok,
              "/proc has the CPU time, run-queue delay and children of every thread",
              {},
              false};
  if (times && children) return {check};
  check.state = CheckState::missing;
  check.detail = fmt::format("/proc has no {}",
                             times ? "list of children: only the program and processes that use CUDA or wic are sampled"
                                   : "schedstat: CPU time is counted in clock ticks, run-queue delay is unknown");
  check.cure = times ? "use a Linux kernel with CONFIG_PROC_CHILDREN"
                     : "use a Linux kernel with CONFIG_SCHED_INFO; some sandboxes hide it";
  return {check};
}

}  // namespace wicprof::cli
