// What a GPU needs to be profiled. All of it may be missing: the CPU device does the main job.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "cli/checks/check.h"
#include "cli/checks/cuda_driver.h"
#include "cli/exe_path.h"
#include "cli/record/app_environment.h"
#include "cli/record/disassemble.h"
#include "protocol/environment.h"

namespace wicprof::cli {

namespace {

Check cupti_check() {
  const std::string path = find_cupti();
  const std::string cure =
      fmt::format("install the CUDA toolkit's CUPTI, or name its library in {}", kCuptiPathVariable);
  if (path.empty()) return {"CUPTI", CheckState::missing, "no libcupti found", cure, false};
  // Stays loaded: it may have started threads.
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return {"CUPTI", CheckState::missing, fmt::format("{} does not load: {}", path, reason == nullptr ? "" : reason),
            cure, false};
  }
  const auto get = reinterpret_cast<int (*)(std::uint32_t*)>(dlsym(library, "cuptiGetVersion"));
  std::uint32_t version = 0;
  if (get == nullptr || get(&version) != 0)
    return {"CUPTI", CheckState::missing, path + " does not say its version", cure, false};
  return {"CUPTI", CheckState::ok, fmt::format("{}, API version {}", path, version), {}, false};
}

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

Check managed_check(const CudaDevice& device) {
  Check check{fmt::format("managed memory, cuda:{}", device.ordinal), CheckState::ok, {}, {}, false};
  const auto said = [](const std::optional<bool>& ability) { return !ability ? "not known" : *ability ? "yes" : "no"; };
  check.detail = fmt::format("{}; CPU and GPU at the same time: {}; memory that was never registered: {}",
                             said(device.managed_memory), said(device.concurrent_managed_access),
                             said(device.pageable_memory_access));
  if (!device.managed_memory.value_or(true) || !device.concurrent_managed_access.value_or(true)) {
    check.state = CheckState::not_applicable;
    check.detail += "; the source uvm sees no faults here";
  }
  return check;
}

// One line for all pairs that are alike, since eight devices have fifty-six.
std::vector<Check> peer_checks(const CudaDriver& driver) {
  std::map<std::pair<bool, std::optional<bool>>, std::string> pairs;
  for (const CudaPeers& p : driver.peers) {
    std::string& list = pairs[{p.access, p.native_atomics}];
    list += fmt::format("{}{}->{}", list.empty() ? "" : ", ", p.from, p.to);
  }
  std::vector<Check> checks;
  for (const auto& [what, list] : pairs) {
    Check check{"peer access", what.first ? CheckState::ok : CheckState::missing, {}, {}, false};
    if (!what.first) {
      check.detail = fmt::format("none: {}", list);
      check.cure = "words and channels between these GPUs have to lie in host memory; see nvidia-smi topo -p2p r";
    } else {
      check.detail = fmt::format("{}; atomics between them: {}", list,
                                 !what.second   ? "not known"
                                 : *what.second ? "native"
                                                : "none, so words between them are not for atomics");
    }
    checks.push_back(check);
  }
  if (checks.empty()) checks.push_back({"peer access", CheckState::not_applicable, "takes two GPUs", {}, false});
  return checks;
}

// CAP_SYS_ADMIN, bit 21 of the effective set: in a container even root may lack it.
bool has_sys_admin() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    return (std::strtoull(line.c_str() + 7, nullptr, 16) >> 21 & 1) != 0;
  }
  return false;
}

Check profiling_rights_check() {
  Check check{"GPU profiling rights", CheckState::not_applicable, "no NVIDIA kernel module here", {}, false};
  std::ifstream params("/proc/driver/nvidia/params");
  for (std::string line; std::getline(params, line);) {
    if (!line.starts_with("RmProfilingAdminOnly:")) continue;
    const bool admin_only = line.find('1') != std::string::npos;
    check.state = CheckState::ok;
    if (!admin_only) {
      check.detail = "counters for everybody";
    } else if (has_sys_admin()) {
      check.detail = "counters for administrators only, and this user is one (CAP_SYS_ADMIN)";
    } else {
      check.state = CheckState::missing;
      check.detail = "counters for administrators only: no pcsampling; kernels, copies and waits need none";
      check.cure =
          "options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then load the driver again; or run "
          "as root, in a container with --cap-add=SYS_ADMIN";
    }
  }
  return check;
}

// In a process of its own: what a library does when it is loaded, or why it cannot be, is not doctor's to suffer.
Check injection_check(const std::string& library) {
  Check check{"injection", CheckState::ok, "the collector loads into a program", {}, false};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {"injection", CheckState::not_applicable, "cannot make a pipe to try it", {}, false};
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const char* reason = nullptr;
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
      reason = dlerror();
    } else if (dlsym(loaded, "InitializeInjection") == nullptr) {
      reason = "it has no InitializeInjection";
    }
    if (reason != nullptr) (void)!write(ends[1], reason, std::strlen(reason));
    _exit(reason == nullptr ? 0 : 1);
  }
  close(ends[1]);
  std::string reason;
  char bytes[512];
  for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) reason.append(bytes, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return check;
  check.state = CheckState::missing;
  check.detail =
      fmt::format("{} does not load: {}", library, reason.empty() ? "the process that tried it was killed" : reason);
  check.cure = "install or build wic-prof again for this system";
  return check;
}

Check nvdisasm_check() {
  const std::string path = find_nvdisasm();
  if (!path.empty() && access(path.c_str(), X_OK) == 0) return {"nvdisasm", CheckState::ok, path, {}, false};
  const std::string why = path.empty() ? "not found" : path + ", which WICPROF_NVDISASM names, cannot be run";
  return {"nvdisasm", CheckState::missing, why + ": polling loops are told from samples alone, less surely",
          "put the CUDA toolkit's bin on PATH, or name the program in WICPROF_NVDISASM", false};
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
    checks.push_back(injection_check(*library));
  } else {
    checks.push_back({"CUDA collector", CheckState::missing,
                      fmt::format("no ../lib/{} beside wic-prof", kInjectionLibrary),
                      "build with a CUDA toolkit: make, with nvcc on PATH or in /usr/local/cuda", false});
  }
  checks.push_back(cupti_check());

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
    for (const CudaDevice& device : driver->devices) {
      checks.push_back(managed_check(device));
      checks.push_back(atomics_check(device));
    }
    const std::vector<Check> peers = peer_checks(*driver);
    checks.insert(checks.end(), peers.begin(), peers.end());
  }
  checks.push_back(nvdisasm_check());
  checks.push_back(profiling_rights_check());
  return checks;
}

}  // namespace wicprof::cli
