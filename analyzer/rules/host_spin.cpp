// Host threads that burn CPU time while they wait.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

struct HostWaits {
  std::string_view call;  ///< empty at a site that the program declares
  std::uint64_t count = 0;
  TimeNs wall = 0, cpu = 0;
  double cpu_in_ground = 0;  ///< ns
};

/// By site, or by call for site 0.
std::map<std::pair<SiteId, std::string_view>, HostWaits> gather(const RuleInput& input, bool& any_cpu) {
  std::map<std::pair<SiteId, std::string_view>, HostWaits> all;
  for (const store::HostWaitRow& wait : input.model.host_waits) {
    if (!wait.cpu) continue;
    any_cpu = true;
    if (wait.end <= input.ground.begin || wait.begin >= input.ground.end) continue;  // start-up and tear-down
    HostWaits& waits = all[{wait.site, wait.site == 0 ? std::string_view(wait.call) : std::string_view()}];
    if (wait.in_call()) waits.call = wait.call;
    ++waits.count;
    const TimeNs wall = std::max<TimeNs>(0, wait.end - wait.begin);
    const Interval part = input.within_ground(wait.begin, wait.end);
    waits.wall += wall;
    waits.cpu += *wait.cpu;
    waits.cpu_in_ground += static_cast<double>(*wait.cpu) * static_cast<double>(part.end - part.begin) /
                           static_cast<double>(std::max<TimeNs>(1, wall));
  }
  return all;
}

/// For a program that nobody can start again by what the trace says.
std::string without_places(const TraceModel& model) {
  if (is_python(model))
    return "record the program with wic-prof run, and park the waits of its host threads while it runs";
  return "call cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) before the first other CUDA call, if the program "
         "tolerates wake-ups some microseconds later";
}

}  // namespace

template <>
RuleOutcome apply<struct HostSpin>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  bool any_cpu = false;
  const auto all = gather(input, any_cpu);
  if (!any_cpu) {
    outcome.refused = model.host_waits.empty() ? "the trace holds no waits of host threads"
                                               : "the trace lacks the CPU time of the host threads' waits";
    return outcome;
  }
  for (const auto& [where, waits] : all) {
    const bool spins = waiting_way(waits.cpu, waits.wall) == WaitingWay::spinning;
    if (!spins) continue;
    const double cpus = waits.cpu_in_ground / static_cast<double>(std::max<TimeNs>(1, input.ground_ns()));
    const auto& [site, call] = where;
    const std::string name = site == 0 ? one_line(call) : one_line(model.site_name(site));
    Finding finding;
    finding.site = site;
    if (site != 0) finding.site_name = model.site_name(site);
    finding.cost = Cost{Cost::Unit::cpus, cpus};
    finding.severity = cpus >= kWarning ? Severity::warning : Severity::info;
    finding.text = fmt::format("host threads spin while they wait {} {}: {} of CPU time in {} of waiting",
                               site == 0 ? "in" : "at", name, format_duration(waits.cpu), format_duration(waits.wall));
    finding.evidence = fmt::format("{}; CPU time is {} of the wall time", count_of(waits.count, "wait"),
                                   format_percent(static_cast<double>(waits.cpu) / static_cast<double>(waits.wall)));
    if (waits.call.empty()) {
      finding.remedy = park_command(model, model.site_name(site));
    } else if (site != 0 || !run_command(model, {}).empty()) {
      finding.remedy = host_park_command(model);
    } else {  // recorded without the places that wait, which a toggle needs
      finding.remedy = without_places(model);
    }
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
