// Who may read the GPU's performance counters, which pcsampling needs.
#include <cstdlib>
#include <fstream>

#include "cli/checks/check.h"

namespace wicprof::cli {

namespace {

// CAP_SYS_ADMIN, bit 21 of the effective set: in a container even root may lack it.
bool has_sys_admin() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    return (std::strtoull(line.c_str() + 7, nullptr, 16) >> 21 & 1) != 0;
  }
  return false;
}

}  // namespace

template <>
std::vector<Check> run_check<struct ProfilingRights>(const Machine&) {
  Check check{"GPU profiling rights", CheckState::not_applicable, "no NVIDIA kernel module", {}, false};
  std::ifstream params("/proc/driver/nvidia/params");
  for (std::string line; std::getline(params, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    const bool admin_only = line.find('1') != std::string::npos;
    check.state = CheckState::ok;
    if (!admin_only) {
      check.detail = "every user may read counters";
    } else if (has_sys_admin()) {
      check.detail = "only administrators may read counters, and this user is one (CAP_SYS_ADMIN)";
    } else {
      check.state = CheckState::missing;
      check.detail =
          "only administrators may read counters: pcsampling is unavailable; kernels, copies and waits need no "
          "counters";
      check.cure =
          "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then reload the driver; or run "
          "as root, in a container with --cap-add=SYS_ADMIN";
    }
  }
  return {check};
}

}  // namespace wicprof::cli
