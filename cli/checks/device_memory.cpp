// Managed memory, and atomics on host memory, for each GPU.
#include <fmt/format.h>

#include <optional>

#include "cli/checks/check.h"

namespace wicprof::cli {

namespace {

Check managed_check(const CudaDevice& device) {
  Check check{fmt::format("managed memory, cuda:{}", device.ordinal), CheckState::ok, {}, {}, false};
  const auto word = [](const std::optional<bool>& ability) { return !ability ? "unknown" : *ability ? "yes" : "no"; };
  check.detail =
      fmt::format("{}; CPU and GPU at the same time: {}; unregistered memory: {}", word(device.managed_memory),
                  word(device.concurrent_managed_access), word(device.pageable_memory_access));
  if (!device.managed_memory.value_or(true) || !device.concurrent_managed_access.value_or(true)) {
    check.state = CheckState::not_applicable;
    check.detail += "; the source uvm records no faults here";
  }
  return check;
}

Check atomics_check(const CudaDevice& device) {
  Check check{fmt::format("host-native atomics, cuda:{}", device.ordinal), CheckState::ok, {}, {}, false};
  if (!device.host_native_atomics) {
    check.state = CheckState::not_applicable;
    check.detail = "the driver does not report it";
  } else if (*device.host_native_atomics) {
    check.detail = "yes: atomics on host memory are atomic for the CPU too";
  } else {
    check.state = CheckState::not_applicable;
    check.detail =
        "no (usual over PCIe): atomics on host memory are atomic for the GPU only; wic-prof does not rely on them";
  }
  return check;
}

}  // namespace

template <>
std::vector<Check> run_check<struct DeviceMemory>(const Machine& machine) {
  std::vector<Check> checks;
  if (!machine.driver) return checks;
  for (const CudaDevice& device : machine.driver->devices) {
    checks.push_back(managed_check(device));
    checks.push_back(atomics_check(device));
  }
  return checks;
}

}  // namespace wicprof::cli
