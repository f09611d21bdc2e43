#include "analyzer/machine_code/polling_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/machine_code/loop_text.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

// The thresholds below are not calibrated; tests/analyzer/polling_loops_test.cpp has examples on both sides.

/// A loop with fewer samples is ignored.
constexpr std::uint64_t kMinSamples = 20;
/// A loop matters if it has this share of its device's samples, ...
constexpr double kMinDeviceShare = 0.01;
/// ... or this share of its function's samples.
constexpr double kMinFunctionShare = 0.5;
/// At least this share of a wait loop's samples has a stall reason that means waiting.
constexpr double kMinWaitingShare = 0.4;
/// An outer loop replaces the loops inside it if it has at least this many times their samples.
constexpr double kMinGainOverInner = 1.1;
/// The barrier at which the other warps wait for the polling one is at most this many instructions after the loop.
constexpr std::size_t kBarrierDistance = 48;

// Confidence in a loop found in instructions.
constexpr double kBaseConfidence = 0.5;
constexpr double kStrongLoadBonus = 0.2, kFenceBonus = 0.1, kOrdinaryLoadPenalty = 0.15;
constexpr double kNoArithmeticBonus = 0.1;
/// Integer operations that do not count against waiting: a counter of rounds and its limit.
constexpr std::size_t kFreeIntegers = 2;
constexpr double kIntegerPenalty = 0.05;  // per further operation
constexpr std::size_t kShortLoop = 32;    // instructions
constexpr double kShortLoopBonus = 0.05;
constexpr double kMostlyWaitingShare = 0.7, kMostlyWaitingBonus = 0.1;
constexpr std::uint64_t kFewSamples = 5 * kMinSamples;
constexpr double kFewSamplesPenalty = 0.15;
constexpr double kMinConfidence = 0.05, kMaxConfidence = 0.95;

// A loop is found from samples alone if at most this many program counters within this many bytes ...
constexpr std::size_t kMaxPcs = 24;
constexpr std::uint64_t kMaxBytes = 24 * 16;
/// ... have this share of the function's samples, ...
constexpr double kMinConcentration = 0.8;
/// ... of which this share waits for memory ...
constexpr double kMinMemoryShare = 0.6;
/// ... and less than this share waits for stores to finish.
constexpr double kMaxDrainShare = 0.02;
/// Shares of stall reasons that show a fence, a sleep or a branch in the loop.
constexpr double kFenceShare = 0.05, kSleepShare = 0.3, kBranchShare = 0.02;
constexpr double kSamplesConfidence = 0.25, kBranchBonus = 0.15, kFenceOrSleepBonus = 0.15;

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

// Samples of the block's warps that wait at the first barrier after the loop while one warp polls. Stops at an end or
// an unconditional jump, since the code after it is reached from elsewhere.
std::uint64_t waiting_behind(const FunctionStalls& stalls, const Function& function, const SassLoop& loop) {
  const std::size_t last = loop.body.back();
  for (std::size_t i = last + 1; i < function.size() && i <= last + kBarrierDistance; ++i) {
    const bool leaves = function[i].kind == SassKind::end || function[i].kind == SassKind::branch;
    if (leaves && !function[i].conditional) return 0;
    if (function[i].kind != SassKind::barrier) continue;
    std::uint64_t behind = 0;
    // A waiting warp is sampled at the barrier or, after issuing it, at the next instruction.
    const std::uint64_t next = i + 1 < function.size() ? function[i + 1].offset : function[i].offset;
    for (const SampledPc& pc : stalls.pcs) {
      if (pc.offset < function[i].offset || pc.offset > next) continue;
      for (const StallShare& share : pc.reasons) behind += share.reason == "barrier" ? share.samples : 0;
    }
    return behind;
  }
  return 0;
}

double confidence_of(const LoopJudgement& judgement, const SassLoop& loop, const std::vector<StallShare>& reasons,
                     std::uint64_t samples) {
  double confidence = kBaseConfidence;
  confidence += judgement.strong ? kStrongLoadBonus : judgement.fences ? kFenceBonus : -kOrdinaryLoadPenalty;
  if (judgement.arithmetic == 0) confidence += kNoArithmeticBonus;
  if (judgement.integers > kFreeIntegers)
    confidence -= kIntegerPenalty * static_cast<double>(judgement.integers - kFreeIntegers);
  if (loop.body.size() <= kShortLoop) confidence += kShortLoopBonus;
  if (waiting_share(reasons) >= kMostlyWaitingShare) confidence += kMostlyWaitingBonus;
  if (samples < kFewSamples) confidence -= kFewSamplesPenalty;
  return std::clamp(confidence, kMinConfidence, kMaxConfidence);
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

  const SassInstruction& poll = function[*judgement.poll_at];
  // Prefers the listing's line, which is in the user's code even after inlining, to CUPTI's.
  found.file = poll.file;
  found.line = poll.line;
  for (const SampledPc* pc : pcs) {
    if (poll.line != 0 || pc->line == 0 || (found.line != 0 && pc->offset != poll.offset)) continue;
    found.file = pc->file;
    found.line = pc->line;
  }
  found.evidence = evidence_text(found, stalls.samples, judgement, loop.body.size());
  for (const std::size_t i : loop.body) {
    found.code.push_back(listing_line(function[i]));
    found.code_lines.push_back(function[i].line);
  }
  return found;
}

bool matters(const PollingLoop& loop) {
  const bool enough = loop.share >= kMinDeviceShare || loop.function_share >= kMinFunctionShare;
  return loop.samples >= kMinSamples && enough && waiting_share(loop.reasons) >= kMinWaitingShare;
}

// Of nested loops, the inner one is the wait, unless the outer one has clearly more samples, or is a lock that is read
// before each attempt to take it.
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
    if (!matters(candidate.loop)) continue;
    // Compares instructions rather than ranges of offsets: part of a loop may be after the kernel's end, with other
    // loops in between.
    const auto shares = [&](const Candidate& other) {
      return std::any_of(other.body.begin(), other.body.end(),
                         [&](std::size_t i) { return candidate.body.contains(i); });
    };
    std::uint64_t inner = 0;
    for (const Candidate& other : found) inner += shares(other) ? other.loop.samples : 0;
    const bool adds = static_cast<double>(candidate.loop.samples) > kMinGainOverInner * static_cast<double>(inner);
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

// Finds a loop from samples alone: few neighbouring program counters that wait for memory and branch. A loop that
// streams through memory or follows pointers may look the same.
std::optional<PollingLoop> from_samples(const FunctionStalls& stalls, std::uint64_t device) {
  if (stalls.pcs.empty()) return std::nullopt;
  std::size_t best_first = 0, best_last = 0;
  std::uint64_t best = 0, inside = 0;
  for (std::size_t first = 0, last = 0; last < stalls.pcs.size(); ++last) {
    inside += stalls.pcs[last].samples;
    while (stalls.pcs[last].offset - stalls.pcs[first].offset >= kMaxBytes || last - first >= kMaxPcs) {
      inside -= stalls.pcs[first++].samples;
    }
    if (inside > best) {
      best = inside;
      best_first = first;
      best_last = last;
    }
  }
  if (ratio(best, stalls.samples) < kMinConcentration) return std::nullopt;
  std::vector<const SampledPc*> pcs;
  for (std::size_t i = best_first; i <= best_last; ++i) pcs.push_back(&stalls.pcs[i]);
  PollingLoop found = base_loop(stalls);
  found.begin = pcs.front()->offset;
  found.end = pcs.back()->offset;
  count_samples(found, stalls, device, pcs);
  found.evidence = evidence_text(found, stalls.samples);
  if (memory_share(found.reasons) < kMinMemoryShare || found.share < kMinDeviceShare || !matters(found))
    return std::nullopt;
  // A wait loop stores nothing, whereas a loop with stores waits for them when it ends.
  if (share_of(found.reasons, "drain") >= kMaxDrainShare) return std::nullopt;
  const double branches = share_of(found.reasons, "branch_resolve") + share_of(found.reasons, "branch_resolving");
  const bool fence = share_of(found.reasons, "membar") >= kFenceShare;
  found.sleeps = share_of(found.reasons, "sleeping") >= kSleepShare;
  // A tight loop waits for its branch in every round; a streaming loop is unrolled.
  found.confidence = kSamplesConfidence + (branches >= kBranchShare ? kBranchBonus : 0) +
                     (fence || found.sleeps ? kFenceOrSleepBonus : 0);
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

// The kernels that ran on the same device at the same time; longest overlap first.
std::vector<std::string> beside(const TraceModel& model, const PollingLoop& loop) {
  std::vector<std::pair<TimeNs, TimeNs>> polling;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.device != loop.device || !same_function(loop, kernel.name)) continue;
    if (!polling.empty() && kernel.start <= polling.back().second) {
      polling.back().second = std::max(polling.back().second, kernel.end);
    } else {
      polling.emplace_back(kernel.start, kernel.end);  // kernels are in order of start
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
