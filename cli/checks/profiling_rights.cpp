// Who may read the GPU's performance counters, which pcsampling needs.
#include <fmt/format.h>

#include <fstream>

#include "cli/checks/capabilities.h"
#include "cli/checks/check.h"
#include "cli/files/container.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct ProfilingRights>(const Machine&) {
  constexpr int kCapSysAdmin = 21;
  Check check{"GPU profiling rights", CheckState::not_applicable, "no NVIDIA kernel module", {}, false};
  std::ifstream params("/proc/driver/nvidia/params");
  for (std::string line; std::getline(params, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    const bool admin_only = line.find('1') != std::string::npos;
    check.state = CheckState::ok;
    if (!admin_only) {
      check.detail = "every user may read counters";
    } else if (has_capability(kCapSysAdmin)) {
      check.detail = "only administrators may read counters, and this user is one (CAP_SYS_ADMIN)";
    } else {
      check.state = CheckState::missing;
      check.detail =
          "only administrators may read counters: pcsampling is unavailable; kernels, copies and waits need no "
          "counters";
      const std::string cure = container_cure("--cap-add=SYS_ADMIN", "securityContext.capabilities.add: [SYS_ADMIN]");
      check.cure = fmt::format(
          "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d of the machine, then reload the "
          "driver; or run as root{}",
          cure.empty() ? "" : ": " + cure);
    }
  }
  return {check};
}

}  // namespace wicprof::cli
