#include "cli/record/energy_sources.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace wicprof::cli {

namespace {

// Of NVML's API, which is stable: codes and handles.
constexpr int kNvmlSuccess = 0;
using NvmlDevice = void*;
constexpr unsigned kNameBytes = 96;

/// NVML's functions; nullptr in a library that lacks one.
struct Nvml {
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*energy)(NvmlDevice, unsigned long long*) = nullptr;  // millijoules since the driver was loaded
  const char* (*error)(int) = nullptr;

  explicit Nvml(void* library) {
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlDeviceGetCount_v2", count);
    find(library, "nvmlDeviceGetHandleByIndex_v2", handle);
    find(library, "nvmlDeviceGetName", name);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
    find(library, "nvmlErrorString", error);
  }
  bool complete() const { return init && count && handle && name && energy && error; }

 private:
  template <class Function>
  static void find(void* library, const char* symbol, Function& to) {
    to = reinterpret_cast<Function>(dlsym(library, symbol));
  }
};

void add_gpus(EnergySources& to) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    to.lacking.emplace_back("no energy of GPUs: this machine has no libnvidia-ml.so.1, which comes with the driver");
    return;
  }
  const Nvml nvml(library);
  if (!nvml.complete()) {
    to.lacking.emplace_back("no energy of GPUs: this driver's libnvidia-ml.so.1 is too old");
    return;
  }
  unsigned gpus = 0;
  int status = nvml.init();
  if (status == kNvmlSuccess) status = nvml.count(&gpus);
  if (status != kNvmlSuccess) {
    to.lacking.push_back(fmt::format("no energy of GPUs: NVML says \"{}\"", nvml.error(status)));
    return;
  }
  for (unsigned i = 0; i < gpus; ++i) {
    NvmlDevice device = nullptr;
    char name[kNameBytes] = {};
    unsigned long long first = 0;
    status = nvml.handle(i, &device);
    if (status == kNvmlSuccess) status = nvml.name(device, name, kNameBytes);
    if (status == kNvmlSuccess) status = nvml.energy(device, &first);
    if (status != kNvmlSuccess) {
      to.lacking.push_back(fmt::format("no energy of GPU {}: NVML says \"{}\"", i, nvml.error(status)));
      continue;
    }
    const auto read = [energy = nvml.energy, device]() -> std::optional<std::uint64_t> {
      unsigned long long millijoules = 0;
      if (energy(device, &millijoules) != kNvmlSuccess) return std::nullopt;
      return std::uint64_t{millijoules} * 1000;
    };
    to.found.push_back({fmt::format("GPU {} ({})", i, name), read, 0});
  }
}

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::uint64_t number = 0;
  std::ifstream in(file);
  return in >> number ? std::optional(number) : std::nullopt;
}

void add_processors(const std::string& powercap, EnergySources& to) {
  std::vector<std::filesystem::path> zones;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(powercap, error)) {
    const std::string zone =
        entry.path().filename().string();  // intel-rapl:0 is a package, intel-rapl:0:0 a part of it
    if (std::count(zone.begin(), zone.end(), ':') == 1) zones.push_back(entry.path());
  }
  std::sort(zones.begin(), zones.end());
  bool any = false;
  std::string refused;
  for (const std::filesystem::path& zone : zones) {
    std::string name;
    std::getline(std::ifstream(zone / "name"), name);
    if (!name.starts_with("package")) continue;
    errno = 0;
    if (!number_in(zone / "energy_uj")) {
      refused = fmt::format("no energy of processors: {}: {}", (zone / "energy_uj").string(),
                            errno != 0 ? std::strerror(errno) : "holds no number");
      continue;
    }
    any = true;
    const auto read = [file = zone / "energy_uj"] { return number_in(file); };
    to.found.push_back({"CPU " + (name.starts_with("package-") ? "package " + name.substr(8) : name), read,
                        number_in(zone / "max_energy_range_uj").value_or(0)});
  }
  if (!refused.empty()) to.lacking.push_back(refused + "; run as root to read it");
  if (!any && refused.empty())
    to.lacking.push_back(fmt::format("no energy of processors: {} names no package", powercap));
}

}  // namespace

EnergySources find_energy_sources(const std::string& powercap) {
  EnergySources sources;
  add_gpus(sources);
  add_processors(powercap, sources);
  return sources;
}

}  // namespace wicprof::cli
