// The kernel's perf events, which wic-prof does not use.
#include <fmt/format.h>

#include <fstream>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct PerfEvents>(const Machine&) {
  Check check{"kernel perf events", CheckState::not_applicable, {}, {}, false};
  int level = 0;
  if (std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level) {
    check.detail = fmt::format("kernel.perf_event_paranoid = {}; wic-prof does not need them", level);
  } else {
    check.detail = "the kernel has none; wic-prof does not need them";
  }
  return {check};
}

}  // namespace wicprof::cli
