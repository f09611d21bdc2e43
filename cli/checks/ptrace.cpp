// Whether `stuck` may read the memory of programs: the words that host threads wait for.
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
    return {{"reading memory", CheckState::ok, "stuck may read the words that host threads wait for", {}, false}};
  }
  const std::string cure = container_cure("--cap-add=SYS_PTRACE", "securityContext.capabilities.add: [SYS_PTRACE]");
  return {
      {"reading memory", CheckState::missing,
       fmt::format("kernel.yama.ptrace_scope = {}: stuck cannot read the words that host threads wait for; all else "
                   "works",
                   scope),
       cure.empty() ? "run stuck as root, or: sysctl kernel.yama.ptrace_scope=0" : cure, false}};
}

}  // namespace wicprof::cli
