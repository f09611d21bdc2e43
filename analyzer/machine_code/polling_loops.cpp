#include "analyzer/machine_code/polling_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Fewer samples than this tell nothing.
constexpr std::uint64_t kFewestSamples = 20;
/// A loop is of interest from this part of its device's samples on, ...
constexpr double kDeviceShare = 0.01;
/// ... or if it is most of its function.
constexpr double kFunctionShare = 0.5;
/// The warps of a wait loop wait: at least this part of its samples.
constexpr double kWaiting = 0.4;
/// A loop around a known one must add this much to take its place.
constexpr double kAddsToInner = 1.1;
/// Integer operations that say nothing against waiting: a count of rounds, and its limit.
constexpr std::size_t kCountsRounds = 2;
/// Stall reasons below this part are noise, but for the first.
constexpr double kWorthNaming = 0.01;
/// How far behind a loop the barrier stands at which the other warps wait for the one that polls.
constexpr std::size_t kBarrierDistance = 48;

// Without instructions: so few program counters, this close together, ...
constexpr std::size_t kFewPcs = 24;
constexpr std::uint64_t kCloseBytes = 24 * 16;
/// ... hold nearly all of a function's samples, ...
constexpr double kNearlyAll = 0.8;
/// ... which wait for memory.
constexpr double kForMemory = 0.6;
/// ... and not for the end of stores.
constexpr double kDrains = 0.02;

using Function = std::vector<SassInstruction>;

std::map<std::pair<std::uint64_t, std::string>, Function> decode_all(const TraceModel& model) {
  std::map<std::pair<std::uint64_t, std::string>, Function> functions;
  for (const store::SassRow& row : model.sass) functions[{row.module, row.symbol}].push_back(decode(row));
  for (auto& [key, function] : functions) {
    std::stable_sort(function.begin(), function.end(),
                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
  }
  return functions;
}

std::uint64_t samples_of(const std::vector<const SampledPc*>& pcs) {
  std::uint64_t samples = 0;
  for (const SampledPc* pc : pcs) samples += pc->samples;
  return samples;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t device_samples(const Stalls& stalls, DeviceId id) {
  for (const DeviceSamples& device : stalls.devices) {
    if (device.device == id) return device.samples;
  }
  return 0;
}

std::vector<const SampledPc*> sampled_in(const FunctionStalls& stalls, const Function& function, const SassLoop& loop) {
  std::set<std::uint64_t> offsets;
  for (const std::size_t i : loop.body) offsets.insert(function[i].offset);
  std::vector<const SampledPc*> pcs;
  for (const SampledPc& pc : stalls.pcs) {
    if (offsets.contains(pc.offset)) pcs.push_back(&pc);
  }
  return pcs;
}

// The warps of a block stand at the first barrier behind the loop while one of them polls. What stands behind an end or
// a jump is reached from elsewhere.
std::uint64_t waiting_behind(const FunctionStalls& stalls, const Function& function, const SassLoop& loop) {
  const std::size_t last = loop.body.back();
  for (std::size_t i = last + 1; i < function.size() && i <= last + kBarrierDistance; ++i) {
    const bool leaves = function[i].kind == SassKind::end || function[i].kind == SassKind::branch;
    if (leaves && !function[i].conditional) return 0;
    if (function[i].kind != SassKind::barrier) continue;
    std::uint64_t behind = 0;
    // The sample stands at the barrier or, once that was issued, at what comes next.
    const std::uint64_t next = i + 1 < function.size() ? function[i + 1].offset : function[i].offset;
    for (const SampledPc& pc : stalls.pcs) {
      if (pc.offset < function[i].offset || pc.offset > next) continue;
      for (const StallShare& share : pc.reasons) behind += share.reason == "barrier" ? share.samples : 0;
    }
    return behind;
  }
  return 0;
}

// With the offset that a branch goes to in place of its label, which nothing else shows.
std::string with_target(const SassInstruction& instruction) {
  const std::size_t label = instruction.text.find("`(");
  const std::size_t end = instruction.text.find(')', label);
  if (!instruction.target || label == std::string::npos || end == std::string::npos) return instruction.text;
  return instruction.text.substr(0, label) + fmt::format("{:#06x}", *instruction.target) +
         instruction.text.substr(end + 1);
}

std::string main_reasons(const std::vector<StallShare>& reasons) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, reasons.size()); ++i) {
    if (i > 0 && share_of(reasons, reasons[i].reason) < kWorthNaming) break;
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", one_line(reasons[i].reason),
                        format_percent(share_of(reasons, reasons[i].reason)));
  }
  return text;
}

double confidence_of(const LoopJudgement& judgement, const SassLoop& loop, const std::vector<StallShare>& reasons,
                     std::uint64_t samples) {
  double confidence = 0.5;
  confidence += judgement.strong ? 0.2 : judgement.fences ? 0.1 : -0.15;
  confidence += judgement.arithmetic == 0 ? 0.1 : 0;
  confidence -= judgement.integers > kCountsRounds ? 0.05 * static_cast<double>(judgement.integers - kCountsRounds) : 0;
  confidence += loop.body.size() <= 32 ? 0.05 : 0;
  confidence += waiting_share(reasons) >= 0.7 ? 0.1 : 0;
  confidence -= samples < 5 * kFewestSamples ? 0.15 : 0;
  return std::clamp(confidence, 0.05, 0.95);
}

PollingLoop base_loop(const FunctionStalls& stalls) {
  PollingLoop loop;
  loop.device = stalls.device;
  loop.module = stalls.module;
  loop.symbol = stalls.symbol;
  loop.function = stalls.function;
  return loop;
}

void count_samples(PollingLoop& found, const FunctionStalls& stalls, std::uint64_t device,
                   const std::vector<const SampledPc*>& pcs) {
  found.samples = samples_of(pcs);
  found.share = ratio(found.samples, device);
  found.behind_share = ratio(found.behind, device);
  found.function_share = ratio(found.samples, stalls.samples);
  found.reasons = sum_reasons(pcs);
  found.evidence.push_back(fmt::format("{} of {} in this function, {} of the device's; they stand at {}",
                                       count_of(found.samples, "sample"), format_count(stalls.samples),
                                       format_percent(found.share), main_reasons(found.reasons)));
}

PollingLoop from_sass(const FunctionStalls& stalls, std::uint64_t device, const Function& function,
                      const SassLoop& loop, const LoopJudgement& judgement) {
  PollingLoop found = base_loop(stalls);
  found.kind = judgement.kind;
  found.from_instructions = true;
  found.begin = loop.head;
  found.end = function[loop.body.back()].offset;
  found.sleeps = judgement.sleeps;
  found.deadline = judgement.deadline;
  found.behind = waiting_behind(stalls, function, loop);
  const std::vector<const SampledPc*> pcs = sampled_in(stalls, function, loop);
  count_samples(found, stalls, device, pcs);
  found.confidence = confidence_of(judgement, loop, found.reasons, found.samples);

  const SassInstruction& look = function[*judgement.look];
  // The instructions' line is the user's own, also of inlined code; CUPTI's is where there is none.
  found.file = look.file;
  found.line = look.line;
  for (const SampledPc* pc : pcs) {
    if (look.line != 0 || pc->line == 0 || (found.line != 0 && pc->offset != look.offset)) continue;
    found.file = pc->file;
    found.line = pc->line;
  }
  found.evidence.insert(
      found.evidence.begin(),
      fmt::format("a loop of {}: {}", count_of(loop.body.size(), "instruction"), one_line(judgement.why)));
  if (judgement.sleeps) found.evidence.push_back("it sleeps between two looks (NANOSLEEP)");
  if (judgement.deadline) found.evidence.push_back("it reads a clock, and gives up by it");
  if (found.behind > 0) {
    found.evidence.push_back(fmt::format("{} more stand at the barrier behind it ({} of the device's)",
                                         count_of(found.behind, "sample"), format_percent(found.behind_share)));
  }
  if (!judgement.strong) {
    found.evidence.push_back("the load is an ordinary one: that it waits for somebody is likely, not certain");
  }
  for (const std::size_t i : loop.body) {
    found.code.push_back(fmt::format("{:04x}  {}", function[i].offset, one_line(with_target(function[i]))));
    found.code_lines.push_back(function[i].line);
  }
  return found;
}

bool of_interest(const PollingLoop& loop) {
  const bool enough = loop.share >= kDeviceShare || loop.function_share >= kFunctionShare;
  return loop.samples >= kFewestSamples && enough && waiting_share(loop.reasons) >= kWaiting;
}

// Loops nest: the inner one is the wait, unless the one around it has clearly more of the samples, or is a lock that is
// looked at before it is tried.
std::vector<PollingLoop> loops_of(const FunctionStalls& stalls, std::uint64_t device, const Function& function) {
  struct Candidate {
    PollingLoop loop;
    std::set<std::size_t> body;
  };
  std::vector<Candidate> found;
  for (const SassLoop& loop : find_loops(function)) {
    const LoopJudgement judgement = judge_loop(function, loop);
    if (!is_polling(judgement.kind)) continue;
    Candidate candidate{from_sass(stalls, device, function, loop, judgement), {loop.body.begin(), loop.body.end()}};
    if (!of_interest(candidate.loop)) continue;
    // A part of a loop may lie behind the kernel's end, with other loops between: ranges of offsets tell nothing.
    const auto shares = [&](const Candidate& other) {
      return std::any_of(other.body.begin(), other.body.end(),
                         [&](std::size_t i) { return candidate.body.contains(i); });
    };
    std::uint64_t inner = 0;
    for (const Candidate& other : found) inner += shares(other) ? other.loop.samples : 0;
    const bool adds = static_cast<double>(candidate.loop.samples) > kAddsToInner * static_cast<double>(inner);
    if (inner > 0 && candidate.loop.kind != LoopKind::lock && !adds) continue;
    std::erase_if(found, shares);
    found.push_back(std::move(candidate));
  }
  std::vector<PollingLoop> loops;
  for (Candidate& candidate : found) loops.push_back(std::move(candidate.loop));
  return loops;
}

double memory_share(const std::vector<StallShare>& reasons) {
  return share_of(reasons, "long_scoreboard") + share_of(reasons, "membar") + share_of(reasons, "branch_resolve") +
         share_of(reasons, "branch_resolving") + share_of(reasons, "sleeping");
}

// Samples alone: few neighbouring program counters that wait for memory and branch. A streaming loop or a chain of
// pointers may look the same.
std::optional<PollingLoop> from_samples(const FunctionStalls& stalls, std::uint64_t device) {
  if (stalls.pcs.empty()) return std::nullopt;
  std::size_t best_first = 0, best_last = 0;
  std::uint64_t best = 0, inside = 0;
  for (std::size_t first = 0, last = 0; last < stalls.pcs.size(); ++last) {
    inside += stalls.pcs[last].samples;
    while (stalls.pcs[last].offset - stalls.pcs[first].offset >= kCloseBytes || last - first >= kFewPcs) {
      inside -= stalls.pcs[first++].samples;
    }
    if (inside > best) {
      best = inside;
      best_first = first;
      best_last = last;
    }
  }
  if (ratio(best, stalls.samples) < kNearlyAll) return std::nullopt;
  std::vector<const SampledPc*> pcs;
  for (std::size_t i = best_first; i <= best_last; ++i) pcs.push_back(&stalls.pcs[i]);
  PollingLoop found = base_loop(stalls);
  found.begin = pcs.front()->offset;
  found.end = pcs.back()->offset;
  found.evidence.push_back(
      "told from samples alone, without the loop's instructions: a loop that streams through memory or "
      "follows pointers may look the same");
  count_samples(found, stalls, device, pcs);
  if (memory_share(found.reasons) < kForMemory || found.share < kDeviceShare || !of_interest(found))
    return std::nullopt;
  // A wait loop stores nothing; what does, waits for its stores when it ends.
  if (share_of(found.reasons, "drain") >= kDrains) return std::nullopt;
  const double branches = share_of(found.reasons, "branch_resolve") + share_of(found.reasons, "branch_resolving");
  const bool fence = share_of(found.reasons, "membar") >= 0.05;
  found.sleeps = share_of(found.reasons, "sleeping") >= 0.3;
  // A tight loop waits for its branch in every round; a streaming one is unrolled, and also waits for its stores.
  found.confidence = 0.25 + (branches >= 0.02 ? 0.15 : 0) + (fence || found.sleeps ? 0.15 : 0);
  const auto hottest = std::max_element(pcs.begin(), pcs.end(), [](const SampledPc* a, const SampledPc* b) {
    return std::pair(a->line != 0, a->samples) < std::pair(b->line != 0, b->samples);
  });
  found.file = (*hottest)->file;
  found.line = (*hottest)->line;
  return found;
}

bool same_function(const PollingLoop& loop, const std::string& kernel) {
  return !kernel.empty() && (kernel == loop.function || kernel == loop.symbol);
}

// Which kernels ran on the same device at the same time, the longest together first.
std::vector<std::string> beside(const TraceModel& model, const PollingLoop& loop) {
  std::vector<std::pair<TimeNs, TimeNs>> polling;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.device != loop.device || !same_function(loop, kernel.name)) continue;
    if (!polling.empty() && kernel.start <= polling.back().second) {
      polling.back().second = std::max(polling.back().second, kernel.end);
    } else {
      polling.emplace_back(kernel.start, kernel.end);  // kernels are ordered by their start
    }
  }
  std::map<std::string, TimeNs> together;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.device != loop.device || same_function(loop, kernel.name)) continue;
    auto span =
        std::partition_point(polling.begin(), polling.end(), [&](const auto& p) { return p.second <= kernel.start; });
    for (; span != polling.end() && span->first < kernel.end; ++span) {
      together[kernel.name] += std::min(span->second, kernel.end) - std::max(span->first, kernel.start);
    }
  }
  std::vector<std::pair<std::string, TimeNs>> order(together.begin(), together.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (auto& [name, time] : order) {
    if (time > 0) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<PollingLoop> find_polling_loops(const TraceModel& model, const Stalls& stalls) {
  const auto functions = decode_all(model);
  std::vector<PollingLoop> loops;
  for (const FunctionStalls& function : stalls.functions) {
    const std::uint64_t device = device_samples(stalls, function.device);
    const auto sass = functions.find({function.module, function.symbol});
    if (sass != functions.end()) {
      for (PollingLoop& loop : loops_of(function, device, sass->second)) loops.push_back(std::move(loop));
    } else if (std::optional<PollingLoop> loop = from_samples(function, device)) {
      loops.push_back(*std::move(loop));
    }
  }
  for (PollingLoop& loop : loops) loop.beside = beside(model, loop);
  std::stable_sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return loops;
}

std::string place_of(const PollingLoop& loop) {
  if (loop.line != 0) return fmt::format("{}:{}", one_line(loop.file.substr(loop.file.rfind('/') + 1)), loop.line);
  return fmt::format("offset {:#x}", loop.begin);
}

std::string_view what_it_does(const PollingLoop& loop) {
  if (!loop.from_instructions) return "seems to poll";
  switch (loop.kind) {
    case LoopKind::lock:
      return "tries to take a lock";
    case LoopKind::grid_barrier:
      return "polls at a barrier among blocks";
    case LoopKind::atomic_poll:
      return "polls a word by an atomic";
    default:
      return loop.sleeps ? "polls a word, with sleeps" : "polls a word";
  }
}

}  // namespace wicprof::analyzer
