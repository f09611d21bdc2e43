#include "analyzer/ranks/device_states.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

namespace {

using store::ProcessId;

/// Means of fewer readings say little.
constexpr std::size_t kLeastReadings = 3;
/// Clocks that differ by less are the same.
constexpr double kSameClock = 0.01;
/// The clock explains longer work where it explains that share of the further time.
constexpr double kClockExplains = 0.5;
// None of these is calibrated.

struct DeviceUse {
  TimeNs total = 0;
  Interval all{};
};

/// By process, the device on which it ran kernels longest.
std::map<ProcessId, std::pair<DeviceId, DeviceUse>> used_devices(const TraceModel& model) {
  std::map<std::pair<ProcessId, DeviceId>, DeviceUse> uses;
  for (const auto& kernel : model.kernels) {
    const auto [at, first] =
        uses.try_emplace({kernel.process, kernel.device}, DeviceUse{0, {kernel.start, kernel.end}});
    DeviceUse& use = at->second;
    use.total += std::max<TimeNs>(0, kernel.end - kernel.start);
    use.all = {std::min(use.all.begin, kernel.start), std::max(use.all.end, kernel.end)};
  }
  std::map<ProcessId, std::pair<DeviceId, DeviceUse>> most;
  for (const auto& [key, use] : uses) {
    const auto [at, first] = most.try_emplace(key.first, key.second, use);
    if (!first && use.total > at->second.second.total) at->second = {key.second, use};
  }
  return most;
}

void add_reading(const store::DeviceStateRow& row, DeviceStates& to) {
  const std::uint64_t reasons = row.slowdown_reasons.value_or(0);
  if (row.sm_clock_mhz == 0 || (reasons & static_cast<std::uint64_t>(SlowdownReason::idle)) != 0) return;
  ++to.readings;
  to.sm_clock_mhz += (row.sm_clock_mhz - to.sm_clock_mhz) / static_cast<double>(to.readings);
  if (row.temperature_c) to.temperature_c = std::max(to.temperature_c.value_or(*row.temperature_c), *row.temperature_c);
  for (std::uint64_t left = reasons; left != 0; left &= left - 1)
    ++to.slowed_times[static_cast<SlowdownReason>(std::uint64_t{1} << std::countr_zero(left))];
}

/// By process, without those with few readings.
std::map<ProcessId, DeviceStates> states_of(const TraceModel& model) {
  struct Rank {
    ProcessId process;
    Interval counted;
  };
  std::map<std::string, std::vector<Rank>, std::less<>> ranks;  // by the UUID of their GPU
  std::map<ProcessId, DeviceStates> states;
  for (const auto& [process, used] : used_devices(model)) {
    const store::DeviceRow* const device = model.device(used.first);
    if (device == nullptr || device->uuid.empty()) continue;
    states[process].uuid = device->uuid;
    ranks[device->uuid].push_back({process, used.second.all});
  }
  for (const store::DeviceStateRow& row : model.device_states) {
    const auto of = ranks.find(row.uuid.text());
    if (of == ranks.end()) continue;
    for (const Rank& rank : of->second) {
      if (row.at >= rank.counted.begin && row.at <= rank.counted.end) add_reading(row, states[rank.process]);
    }
  }
  std::erase_if(states, [](const auto& each) { return each.second.readings < kLeastReadings; });
  return states;
}

template <class Number>
Number middle_of(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

bool ComparedDevices::same_clock() const { return std::abs(clock_share() - 1) <= kSameClock; }

bool ComparedDevices::explains(double times) const {
  const auto capped = late.slowed_times.find(SlowdownReason::power_cap);
  if (capped != late.slowed_times.end() && 2 * capped->second >= late.readings) return false;
  return !same_clock() && 1 / clock_share() - 1 >= kClockExplains * (times - 1);
}

std::optional<ComparedDevices> compare_devices(const TraceModel& model, ProcessId late,
                                               const std::vector<ProcessId>& all) {
  if (model.device_states.empty()) return std::nullopt;
  const std::map<ProcessId, DeviceStates> states = states_of(model);
  const auto own = states.find(late);
  if (own == states.end()) return std::nullopt;
  std::vector<double> clocks;
  std::vector<std::int32_t> temperatures;
  for (const ProcessId process : all) {
    const auto of = states.find(process);
    if (of == states.end() || of->second.uuid == own->second.uuid) continue;
    clocks.push_back(of->second.sm_clock_mhz);
    if (of->second.temperature_c) temperatures.push_back(*of->second.temperature_c);
  }
  if (clocks.empty()) return std::nullopt;
  ComparedDevices compared{own->second, middle_of(clocks), std::nullopt};
  if (!temperatures.empty()) compared.usual_temperature_c = middle_of(temperatures);
  return compared;
}

}  // namespace wicprof::analyzer
