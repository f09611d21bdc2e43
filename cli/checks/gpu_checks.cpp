// What a GPU needs to be profiled. All of it may be missing: the CPU device does the main job.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "cli/checks/check.h"
#include "cli/checks/cuda_driver.h"
#include "cli/exe_path.h"
#include "cli/record/app_environment.h"
#include "protocol/environment.h"

namespace wicprof::cli {

namespace {

Check device_check(const Result<CudaDriver>& driver) {
  Check check{"GPU", CheckState::missing, {}, {}, false};
  if (!driver) {
    check.detail = "none, since there is no usable driver";
    check.cure = "programs run on the CPU device: --devices simt:1";
  } else if (driver->devices.empty()) {
    check.detail = "the driver sees none";
    check.cure = "see nvidia-smi and CUDA_VISIBLE_DEVICES; programs run on the CPU device: --devices simt:1";
  } else {
    check.state = CheckState::ok;
    for (const CudaDevice& d : driver->devices) {
      check.detail += fmt::format("{}cuda:{} {}", check.detail.empty() ? "" : ", ", d.ordinal, d.name);
    }
  }
  return check;
}

Check atomics_check(const CudaDevice& device) {
  Check check{fmt::format("host-native atomics, cuda:{}", device.ordinal), CheckState::ok, {}, {}, false};
  if (!device.host_native_atomics) {
    check.state = CheckState::not_applicable;
    check.detail = "the driver does not say";
  } else if (*device.host_native_atomics) {
    check.detail = "yes: atomics on host memory are seen as such by the CPU";
  } else {
    check.state = CheckState::not_applicable;
    check.detail =
        "no (usual over PCIe): atomics on host memory hold for the GPU alone; wic-prof does not rely on them";
  }
  return check;
}

Check profiling_rights_check() {
  Check check{"GPU profiling rights", CheckState::not_applicable, "no NVIDIA kernel module here", {}, false};
  std::ifstream params("/proc/driver/nvidia/params");
  for (std::string line; std::getline(params, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    const bool admin_only = line.find('1') != std::string::npos;
    check.state = CheckState::ok;
    check.detail =
        admin_only ? "counters for administrators only; kernels, copies and waits need none" : "counters for everybody";
  }
  return check;
}

}  // namespace

std::vector<Check> gpu_checks() {
  std::vector<Check> checks;
  const Result<CudaDriver> driver = probe_cuda_driver();
  if (driver) {
    checks.push_back({"CUDA driver",
                      CheckState::ok,
                      fmt::format("CUDA {}.{}", driver->version / 1000, driver->version % 1000 / 10),
                      {},
                      false});
  } else {
    const std::string& message = driver.error().message;
    const std::size_t semicolon = message.rfind("; ");
    checks.push_back({"CUDA driver", CheckState::missing, message.substr(0, semicolon),
                      semicolon == std::string::npos ? "" : message.substr(semicolon + 2), false});
  }
  checks.push_back(device_check(driver));

  const std::optional<std::string> library = beside_binary(std::string("../lib/") + kInjectionLibrary);
  if (library) {
    checks.push_back({"CUDA collector", CheckState::ok, *library, {}, false});
  } else {
    checks.push_back({"CUDA collector", CheckState::missing,
                      fmt::format("no ../lib/{} beside wic-prof", kInjectionLibrary),
                      "build with a CUDA toolkit: make, with nvcc on PATH or in /usr/local/cuda", false});
  }
  const std::string cupti = find_cupti();
  if (!cupti.empty()) {
    checks.push_back({"CUPTI", CheckState::ok, cupti, {}, false});
  } else {
    checks.push_back({"CUPTI", CheckState::missing, "no libcupti found",
                      fmt::format("install the CUDA toolkit's CUPTI, or name its library in {}", kCuptiPathVariable),
                      false});
  }

  const char* loading = std::getenv(kModuleLoadingVariable);
  Check lazy{"module loading", CheckState::ok, fmt::format("run sets {}=EAGER", kModuleLoadingVariable), {}, false};
  if (loading != nullptr && std::string(loading) != "EAGER") {
    lazy.state = CheckState::missing;
    lazy.detail = fmt::format("{} is set to {}: a first launch beside a kernel that waits can hang",
                              kModuleLoadingVariable, loading);
    lazy.cure = fmt::format("unset {}", kModuleLoadingVariable);
  }
  checks.push_back(lazy);
  if (driver) {
    for (const CudaDevice& device : driver->devices) checks.push_back(atomics_check(device));
  }
  checks.push_back(profiling_rights_check());
  return checks;
}

}  // namespace wicprof::cli
