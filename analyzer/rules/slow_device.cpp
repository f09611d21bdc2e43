// A rank of a job that the others wait for since its device takes longer for the kernels that all ranks run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/rules/slower_rank.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

constexpr std::array kReasonNames{
    std::pair{SlowdownReason::clocks_setting, "a setting of the clocks"},
    std::pair{SlowdownReason::power_cap, "power cap"},
    std::pair{SlowdownReason::hardware_slowdown, "hardware slowdown"},
    std::pair{SlowdownReason::sync_boost, "sync boost"},
    std::pair{SlowdownReason::thermal_slowdown, "thermal slowdown"},
    std::pair{SlowdownReason::hardware_thermal_slowdown, "hardware thermal slowdown"},
    std::pair{SlowdownReason::power_brake, "power brake"},
    std::pair{SlowdownReason::display_clocks_setting, "display clocks"},
};

/// "power cap in 80.0 % of the readings, sync boost in ..."; empty: none.
std::string reasons_text(const DeviceStates& states) {
  std::vector<std::string> texts;
  for (const auto& [reason, name] : kReasonNames) {
    const auto of = states.slowed_times.find(reason);
    if (of == states.slowed_times.end()) continue;
    const double share = static_cast<double>(of->second) / static_cast<double>(states.readings);
    texts.push_back(fmt::format("{} in {}{}", name, format_percent(share), texts.empty() ? " of the readings" : ""));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string devices_text(const ComparedDevices& devices) {
  std::string text = fmt::format("; its GPU's SM clock was {:.0f} MHz in the mean, the others' {:.0f} MHz",
                                 devices.late.sm_clock_mhz, devices.usual_clock_mhz);
  if (devices.late.temperature_c && devices.usual_temperature_c) {
    text += fmt::format("; its highest temperature was {} C, the others' {} C", *devices.late.temperature_c,
                        *devices.usual_temperature_c);
  }
  if (devices.same_clock()) {
    return text +
           "; the clocks are equal within 1 %, so what slows its kernels is not the clock, but another program on its "
           "GPU, or its data";
  }
  const std::string reasons = reasons_text(devices.late);
  return reasons.empty() ? text : fmt::format("{}; what limits its clock: {}", text, reasons);
}

/// The UUID of the late rank's GPU; empty: not in the trace.
std::string gpu_of(const RuleInput& input) {
  if (input.mpi.why.devices) return input.mpi.why.devices->late.uuid;
  for (const auto& kernel : input.model.kernels) {
    if (kernel.process != input.mpi.ranks.front().process) continue;
    const store::DeviceRow* const device = input.model.device(kernel.device);
    return device == nullptr ? std::string() : device->uuid;
  }
  return {};
}

std::string device_remedy(const RuleInput& input) {
  constexpr std::string_view kExchange =
      "then give two ranks each other's device: what stays with the rank is its data's, not the device's";
  const LateRankCause& why = input.mpi.why;
  if (why.devices && why.devices->explains(why.slower->times))
    return "raise the device's clock to that of the others: look at its cooling, its power limit and clocks that "
           "somebody has set, or give the rank another device";
  if (why.devices && why.devices->same_clock())
    return fmt::format("look for other programs on the device while the job runs; {}", kExchange);
  std::string compare =
      "compare the device's clocks, temperature, reasons for throttling and other programs with those of the other "
      "devices while the job runs";
  if (input.model.device_states.empty())
    compare += input.model.is_digest() ? " (traces that wic-prof run --energy records have clocks and temperatures, "
                                         "digests do not)"
                                       : " (wic-prof run --energy records clocks and temperatures)";
  return fmt::format("{}; {}", compare, kExchange);
}

}  // namespace

template <>
RuleOutcome apply<struct SlowDevice>(const RuleInput& input) {
  RuleOutcome outcome;
  std::optional<Finding> found = slower_rank(input, RankCause::slow_device);
  if (!found) return outcome;
  if (input.mpi.why.devices) found->evidence += devices_text(*input.mpi.why.devices);
  const std::string uuid = gpu_of(input);
  found->command =
      fmt::format("nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE,PIDS{}", uuid.empty() ? "" : " -i " + uuid);
  found->remedy = device_remedy(input);
  outcome.findings.push_back(*std::move(found));
  return outcome;
}

}  // namespace wicprof::analyzer
