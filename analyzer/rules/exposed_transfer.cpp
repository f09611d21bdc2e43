// Copies during which the device computes nothing: the program waits for the transfer itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Share of the traced time, not calibrated. What is below kWarning would not show, since overlap never hides all of a
/// transfer.
constexpr double kExposedCritical = 0.3;

struct Work {
  std::vector<Interval> kernels, copies, both;
  std::uint64_t bytes = 0, count = 0, pageable = 0, waited_for = 0;
};

bool crosses_the_bus(const store::CopyRow& copy) {
  return copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host ||
         copy.kind == CopyKind::peer_to_peer;
}

}  // namespace

template <>
RuleOutcome apply<struct ExposedTransfer>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.copies.empty() || model.kernels.empty() || input.ground_ns() <= 0) {
    outcome.refused =
        model.copies.empty() ? "the trace holds no copies" : "the trace holds no kernels beside its copies";
    return outcome;
  }
  std::map<DeviceId, Work> devices;
  for (const store::KernelRow& kernel : model.kernels) {
    const Interval part = input.within_ground(kernel.start, kernel.end);
    if (part.end <= part.begin) continue;
    Work& work = devices[kernel.device];
    work.kernels.push_back(part);
    work.both.push_back(work.kernels.back());
  }
  for (const store::CopyRow& copy : model.copies) {
    const Interval part = input.within_ground(copy.start, copy.end);
    if (!crosses_the_bus(copy) || part.end <= part.begin) continue;
    Work& work = devices[copy.device];
    work.copies.push_back(part);
    work.both.push_back(work.copies.back());
    work.bytes += copy.bytes;
    ++work.count;
    if (copy.source == CopyMemory::pageable || copy.destination == CopyMemory::pageable) ++work.pageable;
    if (!copy.asynchronous) ++work.waited_for;
  }
  for (auto& [device, work] : devices) {
    if (work.count == 0) continue;
    const TimeNs copying = covered(work.copies);
    // Time with a copy and no kernel: the union of both minus the union of the kernels.
    const TimeNs exposed = covered(std::move(work.both)) - covered(std::move(work.kernels));
    const double share = static_cast<double>(exposed) / static_cast<double>(input.ground_ns());
    if (share < kWarning) continue;
    Finding finding;
    finding.cost = Cost{Cost::Unit::time, share};
    finding.severity = share >= kExposedCritical ? Severity::critical : Severity::warning;
    finding.text =
        fmt::format("{} does not hide its transfers: for {}, {} of the traced time, it copies and computes nothing",
                    one_line(model.device_name(device)), format_duration(exposed), format_percent(share));
    finding.evidence = fmt::format(
        "{} {} of {} in all took {}, {} of that time beside kernels; {} from or to pageable memory, {} synchronous",
        format_count(work.count), work.count == 1 ? "copy" : "copies", format_bytes(work.bytes),
        format_duration(copying),
        format_percent(copying > 0 ? static_cast<double>(copying - exposed) / static_cast<double>(copying) : 0),
        format_count(work.pageable), format_count(work.waited_for));
    finding.remedy =
        std::string(work.pageable > 0 ? "allocate the host's side with cudaMallocHost, since copies of pageable "
                                        "memory do not overlap; "
                                      : "") +
        "copy in parts with cudaMemcpyAsync on a separate stream, so that the next part transfers while the kernel "
        "works on the current one; or start the kernel at once and let it receive its data through a wic channel "
        "(wic-prof explain channel)";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
