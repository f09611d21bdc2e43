#include "cli/record/energy_sources.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace wicprof::cli {

namespace {

// Of NVML's API, which is stable: codes and handles.
constexpr int kNvmlSuccess = 0;
constexpr int kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
constexpr int kGpuTemperature = 0;             // nvmlTemperatureSensors_t
using NvmlDevice = void*;
constexpr unsigned kNameBytes = 96;

/// NVML's functions; nullptr in a library that lacks one. Clocks are in MHz, temperatures in degrees Celsius.
struct Nvml {
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*energy)(NvmlDevice, unsigned long long*) = nullptr;  // millijoules since the driver was loaded
  const char* (*error)(int) = nullptr;
  int (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*slowdown_reasons)(NvmlDevice, unsigned long long*) = nullptr;

  explicit Nvml(void* library) {
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlDeviceGetCount_v2", count);
    find(library, "nvmlDeviceGetHandleByIndex_v2", handle);
    find(library, "nvmlDeviceGetName", name);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", energy);
    find(library, "nvmlErrorString", error);
    find(library, "nvmlDeviceGetUUID", uuid);
    find(library, "nvmlDeviceGetClockInfo", clock);
    find(library, "nvmlDeviceGetMaxClockInfo", max_clock);
    find(library, "nvmlDeviceGetTemperature", temperature);
    find(library, "nvmlDeviceGetCurrentClocksEventReasons", slowdown_reasons);
    if (slowdown_reasons == nullptr)  // its name in older drivers
      find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", slowdown_reasons);
  }
  bool complete() const { return init && count && handle && name && energy && error; }

 private:
  template <class Function>
  static void find(void* library, const char* symbol, Function& to) {
    to = reinterpret_cast<Function>(dlsym(library, symbol));
  }
};

DeviceStateEvent state_of(const Nvml& nvml, NvmlDevice device) {
  const auto number = [&](auto function, int which) {
    unsigned value = 0;
    return function != nullptr && function(device, which, &value) == kNvmlSuccess ? std::optional(value) : std::nullopt;
  };
  auto event = make_event<DeviceStateEvent>();
  event.sm_clock_mhz = number(nvml.clock, kSmClock).value_or(0);
  event.memory_clock_mhz = number(nvml.clock, kMemoryClock).value_or(0);
  const std::optional<unsigned> temperature = number(nvml.temperature, kGpuTemperature);
  event.temperature_c = temperature ? static_cast<std::int32_t>(*temperature) : DeviceStateEvent::kUnknownTemperature;
  unsigned long long reasons = 0;
  const bool told = nvml.slowdown_reasons != nullptr && nvml.slowdown_reasons(device, &reasons) == kNvmlSuccess;
  event.slowdown_reasons = told ? reasons : DeviceStateEvent::kUnknownReasons;
  return event;
}

void add_state(const Nvml& nvml, NvmlDevice device, unsigned number, EnergySources& to) {
  char uuid[kNameBytes] = {};
  if (nvml.uuid == nullptr || nvml.uuid(device, uuid, kNameBytes) != kNvmlSuccess) {
    to.lacking.push_back(
        fmt::format("no clocks and no temperature of GPU {}: its driver does not tell its UUID", number));
    return;
  }
  unsigned highest = 0;
  if (nvml.max_clock == nullptr || nvml.max_clock(device, kSmClock, &highest) != kNvmlSuccess) highest = 0;
  const DeviceStateEvent first = state_of(nvml, device);
  std::vector<std::string_view> lacking;
  if (first.sm_clock_mhz == 0) lacking.emplace_back("clock of the SMs");
  if (first.memory_clock_mhz == 0) lacking.emplace_back("clock of the memory");
  if (first.temperature_c == DeviceStateEvent::kUnknownTemperature) lacking.emplace_back("temperature");
  if (first.slowdown_reasons == DeviceStateEvent::kUnknownReasons) lacking.emplace_back("reasons for a lower clock");
  if (!lacking.empty())
    to.lacking.push_back(fmt::format("of GPU {}, its driver does not tell: {}", number, fmt::join(lacking, ", ")));
  if (lacking.size() == 4) return;
  to.states.push_back({uuid, [nvml, device, highest] {
                         DeviceStateEvent event = state_of(nvml, device);
                         event.max_sm_clock_mhz = highest;
                         return event;
                       }});
}

void add_gpu(const Nvml& nvml, unsigned number, EnergySources& to) {
  NvmlDevice device = nullptr;
  int status = nvml.handle(number, &device);
  if (status == kNvmlSuccess) add_state(nvml, device, number, to);
  char name[kNameBytes] = {};
  unsigned long long first = 0;
  if (status == kNvmlSuccess) status = nvml.name(device, name, kNameBytes);
  if (status == kNvmlSuccess) status = nvml.energy(device, &first);
  if (status != kNvmlSuccess) {
    to.lacking.push_back(fmt::format("no energy of GPU {}: NVML says \"{}\"", number, nvml.error(status)));
    return;
  }
  const auto read = [energy = nvml.energy, device]() -> std::optional<std::uint64_t> {
    unsigned long long millijoules = 0;
    if (energy(device, &millijoules) != kNvmlSuccess) return std::nullopt;
    return std::uint64_t{millijoules} * 1000;
  };
  to.found.push_back({fmt::format("GPU {} ({})", number, name), read, 0});
}

void add_gpus(EnergySources& to) {
  constexpr std::string_view kNone = "no energy, clocks or temperatures of GPUs";
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    to.lacking.push_back(fmt::format("{}: this machine has no libnvidia-ml.so.1, which comes with the driver", kNone));
    return;
  }
  const Nvml nvml(library);
  if (!nvml.complete()) {
    to.lacking.push_back(fmt::format("{}: this driver's libnvidia-ml.so.1 is too old", kNone));
    return;
  }
  unsigned gpus = 0;
  int status = nvml.init();
  if (status == kNvmlSuccess) status = nvml.count(&gpus);
  if (status != kNvmlSuccess) {
    to.lacking.push_back(fmt::format("{}: NVML says \"{}\"", kNone, nvml.error(status)));
    return;
  }
  for (unsigned i = 0; i < gpus; ++i) add_gpu(nvml, i, to);
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
