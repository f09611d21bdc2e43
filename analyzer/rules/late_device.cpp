#include "analyzer/rules/late_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// The late device waits less than this share of what each other one waits, per waiter. Not calibrated.
constexpr double kNextToNothing = 0.2;

/// Of one device in one kernel.
struct Waiting {
  TimeNs total = 0, longest = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> waiters;  // block and warp
  store::ProcessId process = 0;

  TimeNs each() const { return waiters.empty() ? 0 : total / static_cast<TimeNs>(waiters.size()); }
};
using Devices = std::map<DeviceId, Waiting>;

/// By kernel: the part of a site's name before the line.
std::map<std::string, Devices> waiting_of(const TraceModel& model) {
  std::map<SiteId, std::string> kernels;
  for (const store::WaitCountRow& row : model.wait_counts) kernels[row.site];
  for (auto& [site, kernel] : kernels) {
    const std::string name = model.site_name(site);
    kernel = name.substr(0, name.rfind(':'));
  }
  std::map<std::string, Devices> all;
  if (kernels.empty()) return all;
  for (const store::WaitCountRow& row : model.wait_counts) {
    const bool ran = row.waits != 0 || row.looked != 0 || row.sampled != 0 || row.timed != 0;
    if (ran) all[kernels[row.site]][row.device].process = row.process;
  }
  for (const auto& wait : model.waits) {
    const auto kernel = kernels.find(wait.site);
    if (kernel == kernels.end()) continue;
    Waiting& of = all[kernel->second][wait.device];
    const TimeNs length = wait.resumed - wait.arrived;
    of.total += length;
    of.longest = std::max(of.longest, length);
    of.waiters.insert({wait.block, wait.warp});
  }
  return all;
}

std::string name_of(const TraceModel& model, const Devices::value_type& device) {
  return device.second.process == 0
             ? model.device_name(device.first)
             : fmt::format("{} (process {})", model.device_name(device.first), device.second.process);
}

}  // namespace

std::optional<Finding> late_device(const RuleInput& input) {
  std::optional<Finding> worst;
  for (const auto& [kernel, devices] : waiting_of(input.model)) {
    if (devices.size() < 2) continue;
    const auto less = [](const auto& a, const auto& b) { return a.second.each() < b.second.each(); };
    const auto late = std::min_element(devices.begin(), devices.end(), less);
    TimeNs least = std::numeric_limits<TimeNs>::max(), most = 0;  // of the others
    for (auto at = devices.begin(); at != devices.end(); ++at) {
      if (at == late) continue;
      least = std::min(least, at->second.each());
      most = std::max(most, at->second.longest);
    }
    const auto own = static_cast<double>(late->second.each());
    if (least == 0 || own > kNextToNothing * static_cast<double>(least)) continue;
    const double share = static_cast<double>(least) / static_cast<double>(std::max<TimeNs>(input.ground_ns(), 1));
    if (share < kWorthNaming || (worst && worst->cost->amount >= share)) continue;
    const std::size_t others = devices.size() - 1;
    Finding& finding = worst.emplace();
    finding.severity = share < kWarning ? Severity::info : Severity::warning;
    finding.text =
        fmt::format("{} came late: {} waited at least {} in each waiter of {}, and it waited {}",
                    name_of(input.model, *late), others == 1 ? "the other device" : count_of(others, "other device"),
                    format_duration(least), kernel, format_duration(late->second.each()));
    finding.cost = Cost{Cost::Unit::time, std::min(1.0, share)};
    finding.evidence = fmt::format(
        "all of them run that kernel, whose loops wait; {} at most in one wait; waits of less than 20 us are left out",
        format_duration(most));
    finding.remedy = fmt::format("compare what {} does before {} with what the other devices do there",
                                 name_of(input.model, *late), kernel);
  }
  return worst;
}

}  // namespace wicprof::analyzer
