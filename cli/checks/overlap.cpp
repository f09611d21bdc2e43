// Whether kernels can run beside each other, and whether a program's process would have another tool in it.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "cli/checks/check.h"
#include "protocol/environment.h"

namespace wicprof::cli {

namespace {

std::string set_to(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string() : value;
}

/// The GPUs that other processes use at the same time, through CUDA's MPS.
std::string shared_gpus(const Machine& machine) {
  std::string list;
  if (!machine.driver) return list;
  for (const CudaDevice& gpu : machine.driver->devices) {
    if (gpu.shared_by_mps.value_or(false)) list += fmt::format("{}{}", list.empty() ? "" : ", ", gpu.ordinal);
  }
  return list;
}

}  // namespace

template <>
std::vector<Check> run_check<struct Overlap>(const Machine& machine) {
  Check beside{
      "concurrent kernels", CheckState::ok, "nothing here keeps kernels from running beside each other", {}, false};
  const std::string gpus = shared_gpus(machine);
  if (const std::string blocking = set_to(kLaunchBlockingVariable); !blocking.empty() && blocking != "0") {
    beside.state = CheckState::missing;
    beside.detail = fmt::format("{}={} makes each launch wait for its kernel: kernels that wait for others time out",
                                kLaunchBlockingVariable, blocking);
    beside.cure = fmt::format("unset {}", kLaunchBlockingVariable);
  } else if (!gpus.empty()) {
    beside.state = CheckState::missing;
    beside.detail =
        fmt::format("MPS shares GPU {} with other processes: blocks that wait for each other may not all fit", gpus);
    beside.cure = "stop the other processes, or give each its SMs with CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
  }

  Check tools{"other profilers",
              CheckState::ok,
              fmt::format("{} is free for the collector", kCudaInjectionVariable),
              {},
              false};
  if (const std::string other = set_to(kCudaInjectionVariable); !other.empty()) {
    tools.state = CheckState::missing;
    tools.detail = fmt::format("{} names {}; run replaces it, because the CUDA driver loads only one tool",
                               kCudaInjectionVariable, other);
    tools.cure = fmt::format("unset {}, and record with one tool at a time", kCudaInjectionVariable);
  }
  return {beside, tools};
}

}  // namespace wicprof::cli
