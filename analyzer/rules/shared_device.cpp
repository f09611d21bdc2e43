// Kernels that take longer since another program, or another context of the program, has the device by turns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/waits/turn_sums.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

using store::ProcessId;

/// Processes that a sentence names; the others are counted.
constexpr std::size_t kNamedProcesses = 8;

/// What one device's processes lost, most first.
struct SharedGpu {
  DeviceId device = 0;
  std::vector<InterruptedKernels> found;  ///< one for each process
  bool sure = false;
  bool unknown = false;  ///< whoever has the device beside one of these is not in the trace
};

/// Adds what another context of the process lost.
void add_context(const InterruptedKernels& context, InterruptedKernels& to) {
  to.kernels += context.kernels;
  to.late_starts += context.late_starts;
  to.lost_ns += context.lost_ns;
  if (context.kinds == 0) return;
  to.shortest_ns = to.kinds == 0 ? context.shortest_ns : std::min(to.shortest_ns, context.shortest_ns);
  to.longest_ns = std::max(to.longest_ns, context.longest_ns);
  to.kinds += context.kinds;
}

std::vector<SharedGpu> shared_gpus(const std::vector<InterruptedKernels>& all) {
  std::vector<SharedGpu> gpus;
  for (const InterruptedKernels& each : all) {
    auto of = std::ranges::find(gpus, each.device, &SharedGpu::device);
    if (of == gpus.end()) of = gpus.insert(gpus.end(), SharedGpu{each.device, {}, false, false});
    of->sure = of->sure || each.sure;
    of->unknown = of->unknown || each.others.empty();
    const auto known = std::ranges::find(of->found, each.process, &InterruptedKernels::process);
    if (known == of->found.end()) {
      of->found.push_back(each);
    } else {
      add_context(each, *known);
    }
  }
  const auto most_first = [](const InterruptedKernels& each) { return std::pair(-each.lost_ns, each.process); };
  for (SharedGpu& gpu : gpus) std::ranges::sort(gpu.found, {}, most_first);
  return gpus;
}

class SharedGpuWords {
 public:
  explicit SharedGpuWords(const TraceModel& model) : model_(model), ranks_(RankNumbers(model).world()) {
    for (const JoinedTrace& trace : model.joined) hosts_.insert(trace.host);
  }

  /// "GPU 0", "GPU 5 of node1"
  std::string gpu(const SharedGpu& gpu) const {
    const auto trace = model_.joined_trace.find(gpu.found.front().process);
    if (hosts_.size() < 2 || trace == model_.joined_trace.end()) return fmt::format("GPU {}", gpu.device);
    return fmt::format("GPU {} of {}", gpu.device, model_.joined[trace->second].host);
  }
  /// "process 100"; "rank 3", since joined traces may give a process another number
  std::string name(ProcessId process) const {
    const auto rank = ranks_.find(process);
    return rank == ranks_.end() ? fmt::format("process {}", process) : fmt::format("rank {}", rank->second);
  }
  /// "ranks 0, 1 and 2", "process 100 and rank 3"
  std::string names(const std::vector<ProcessId>& processes) const {
    const auto is_rank = [&](ProcessId process) { return ranks_.contains(process); };
    const bool all_ranks = std::ranges::all_of(processes, is_rank);
    const bool alike = processes.size() > 1 && (all_ranks || std::ranges::none_of(processes, is_rank));
    std::vector<std::string> all;
    for (const ProcessId each : processes) {
      if (all.size() < kNamedProcesses) all.push_back(alike ? name(each).substr(name(each).find(' ') + 1) : name(each));
    }
    if (processes.size() > all.size()) all.push_back(count_of(processes.size() - all.size(), "other"));
    const std::string last = std::move(all.back());
    all.pop_back();
    return fmt::format("{}{}{}{}", alike ? (all_ranks ? "ranks " : "processes ") : "", fmt::join(all, ", "),
                       all.empty() ? "" : " and ", last);
  }
  std::string unknown() const {
    return fmt::format("a program that is not in {}", model_.joined.size() > 1 ? "these traces" : "this trace");
  }

 private:
  const TraceModel& model_;
  const std::map<ProcessId, std::int32_t> ranks_;
  std::set<std::string> hosts_;
};

/// Of one process: "kernels take 2.5 ms longer per turn, however long they are"
std::string text_of_one(const SharedGpu& gpu, const SharedGpuWords& words) {
  const InterruptedKernels& found = gpu.found.front();
  const std::string turn = format_duration(found.turn_ns), own = words.name(found.process);
  if (!gpu.sure)
    return fmt::format(
        "{} may be shared by turns with {}: work of {} begins {} late again and again, with nothing of its own in "
        "front of it",
        words.gpu(gpu), found.others.empty() ? "another program" : words.names(found.others), own, turn);
  const std::string others =
      found.others.empty() ? words.unknown() + ", or another context of the process," : words.names(found.others);
  const std::string has =
      fmt::format("{} ha{} {} by turns", others, found.others.size() > 1 ? "ve" : "s", words.gpu(gpu));
  if (found.kernels == 0) return fmt::format("{}: work of {} begins {} late", has, own, turn);
  return fmt::format("{}: a turn makes kernels of {} {} longer, however long they are", has, own, turn);
}

/// Of several: "rank 0 and rank 1 have GPU 0 by turns: rank 0 loses at least 1.2 s (2.5 ms per turn); rank 1 ..."
std::string text_of_several(const SharedGpu& gpu, const SharedGpuWords& words) {
  std::vector<ProcessId> all;
  std::vector<std::string> lost;
  for (const InterruptedKernels& found : gpu.found) {
    all.push_back(found.process);
    if (lost.size() < kNamedProcesses)
      lost.push_back(fmt::format("{} loses at least {} ({} per turn)", words.name(found.process),
                                 format_duration(found.lost_ns), format_duration(found.turn_ns)));
  }
  for (const InterruptedKernels& found : gpu.found) {
    for (const ProcessId other : found.others) {
      if (std::ranges::count(all, other) == 0) all.push_back(other);
    }
  }
  std::string who = words.names(all);
  if (gpu.unknown) who += fmt::format(", and perhaps {},", words.unknown());
  if (gpu.found.size() > lost.size()) lost.push_back(count_of(gpu.found.size() - lost.size(), "other") + " less");
  return fmt::format("{} {} {} by turns: {}", who, gpu.sure ? "have" : "may have", words.gpu(gpu),
                     fmt::join(lost, "; "));
}

std::string evidence_of(const InterruptedKernels& found, const SharedGpuWords& words) {
  std::string text;
  if (found.kinds > 0)
    text = fmt::format("{} of {} that take {} to {} without a turn; ", count_of(found.kernels, "run"),
                       count_of(found.kinds, "kernel shape"), format_duration(found.shortest_ns),
                       format_duration(found.longest_ns));
  if (found.late_starts > 0)
    text += fmt::format("{} late with nothing in front of them; ",
                        found.late_starts == 1 ? "1 launch" : format_count(found.late_starts) + " launches");
  text += fmt::format("at least {} lost in sum", format_duration(found.lost_ns));
  if (found.others_supposed)
    text += fmt::format("; digests show that {} ran kernels there meanwhile, not in which turns",
                        words.names(found.others));
  return text;
}

std::string remedy_of(const SharedGpu& gpu) {
  if (!gpu.sure)
    return "look for other programs on the GPU (outside of containers, nvidia-smi names them); if there are none, look "
           "for what the streams wait for that the trace does not show: a flag, an event of another process, work that "
           "an imported trace lacks";
  constexpr std::string_view kShare =
      "give each program a GPU or a MIG instance of its own, or let them share by MPS, which needs no turns";
  if (!gpu.unknown) return std::string(kShare);
  return fmt::format(
      "end the other program (outside of containers, nvidia-smi names it; processes of an earlier run may be left), {}",
      kShare);
}

Finding finding_of(const SharedGpu& gpu, const SharedGpuWords& words, const RuleInput& input) {
  Finding finding;
  // Processes lose time side by side.
  finding.cost = input.time_cost(gpu.found.front().lost_ns);
  finding.severity = finding.cost->amount >= kWarning && gpu.sure ? Severity::warning : Severity::info;
  const bool several = gpu.found.size() > 1;
  finding.text = several ? text_of_several(gpu, words) : text_of_one(gpu, words);
  for (const InterruptedKernels& found : gpu.found) {
    if (several)
      finding.evidence += fmt::format("{}{}: ", finding.evidence.empty() ? "" : ". ", words.name(found.process));
    finding.evidence += evidence_of(found, words);
  }
  const store::DeviceRow* const device = input.model.device(gpu.device);
  finding.command = fmt::format("nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv{}",
                                device == nullptr || device->uuid.empty() ? "" : " -i " + device->uuid);
  finding.remedy = remedy_of(gpu);
  return finding;
}

}  // namespace

template <>
RuleOutcome apply<struct SharedDevice>(const RuleInput& input) {
  RuleOutcome outcome;
  const bool sums =
      std::ranges::any_of(input.model.digest_sums, [](const auto& sum) { return sum.of == store::SumOf::kernel; });
  if (input.model.kernels.empty() && !sums) {
    outcome.refused = fmt::format("the {} no kernels", input.model.is_digest() ? "digests show" : "trace holds");
    return outcome;
  }
  if (lacks_turns(input.model))
    outcome.refused = "a digest of an earlier wic-prof does not have what it needs; make it again of the trace";
  const SharedGpuWords words(input.model);
  for (const SharedGpu& gpu : shared_gpus(input.interrupted_kernels)) {
    Finding finding = finding_of(gpu, words, input);
    if (finding.cost->amount >= kWorthNaming) outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
