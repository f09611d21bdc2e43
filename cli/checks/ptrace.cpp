// Whether `stuck` may read the memory of programs, the words that host threads wait for, and `attach` load its library
// into programs that were started without it.
#include <fmt/format.h>

#include <fstream>

#include "cli/checks/capabilities.h"
#include "cli/checks/check.h"
#include "cli/files/container.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Ptrace>(const Machine&) {
  constexpr int kCapSysPtrace = 19;
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 0 || (scope < 3 && has_capability(kCapSysPtrace))) {
    return {{"reading memory",
             CheckState::ok,
             "stuck may read the words that host threads wait for, and attach may load its library into a program",
             {},
             false}};
  }
  const std::string cure = container_cure("--cap-add=SYS_PTRACE", "securityContext.capabilities.add: [SYS_PTRACE]");
  return {
      {"reading memory", CheckState::missing,
       fmt::format(
           "kernel.yama.ptrace_scope = {}: stuck cannot read the words that host threads wait for, and attach needs "
           "programs that were started with CUDA_INJECTION64_PATH; all else works",
           scope),
       cure.empty() ? "run stuck and attach as root, or: sysctl kernel.yama.ptrace_scope=0" : cure, false}};
}

}  // namespace wicprof::cli
