#include "analyzer/machine_code/polling_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/machine_code/barriers.h"
#include "analyzer/machine_code/calls.h"
#include "analyzer/machine_code/loop_text.h"
#include "analyzer/trace/modes.h"
#include "analyzer/words/format.h"
#include "protocol/symbol_name.h"

namespace wicprof::analyzer {
namespace {

// The thresholds below are not calibrated; tests/analyzer/polling_loops_test.cpp has examples on both sides.

/// A loop with fewer samples, those at the barrier behind it included, is ignored: what a wait costs is also the time
/// of the warps that wait for the polling one.
constexpr std::uint64_t kMinSamples = 20;
/// A loop with fewer samples is ignored, because the reasons of its stalls would be chance. Those at the barrier behind
/// a loop found in instructions count, too.
constexpr std::uint64_t kMinOwnSamples = 3;
/// A loop found in samples alone matters if it has, with the barrier behind it, this share of its device's samples, ...
constexpr double kMinDeviceShare = 0.01;
/// ... or this share of its function's samples.
constexpr double kMinFunctionShare = 0.5;
/// The same for a loop found in instructions, which is a wait however rarely it waits: the rule polling_kernel lowers
/// its severity, not its recognition. Chosen by trial on the half for improving of tests/analyzer/machine_code_cases.
constexpr double kMinDeviceShareOfCode = 0.001, kMinFunctionShareOfCode = 0.02;
/// At least this share of the samples of a loop found in samples alone has a stall reason that means waiting ...
constexpr double kMinWaitingShare = 0.4;
/// ... and this share for a loop found in instructions: without optimisation, a wait issues hundreds of moves per poll.
constexpr double kMinWaitingShareOfCode = 0.1;
/// An outer loop replaces the loops inside it if it has at least this many times their samples.
constexpr double kMinGainOverInner = 1.1;

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

std::map<std::uint64_t, SassFunctions> decode_all(const TraceModel& model) {
  std::map<std::uint64_t, SassFunctions> modules;
  for (const store::SassRow& row : model.sass) modules[row.module][row.symbol].push_back(decode(row));
  for (auto& [module, functions] : modules) {
    for (auto& [symbol, function] : functions) {
      std::ranges::stable_sort(function, [](const auto& a, const auto& b) { return a.offset < b.offset; });
    }
  }
  return modules;
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

// The sampled functions of one module on one device, by symbol.
using ModuleStalls = std::map<std::string, const FunctionStalls*>;

const SampledPc* sampled_at(const ModuleStalls& stalls, const CodePlace& place) {
  const auto function = stalls.find(place.symbol);
  if (function == stalls.end()) return nullptr;
  const std::vector<SampledPc>& pcs = function->second->pcs;
  const auto found = std::lower_bound(pcs.begin(), pcs.end(), place.offset,
                                      [](const SampledPc& pc, std::uint64_t offset) { return pc.offset < offset; });
  return found != pcs.end() && found->offset == place.offset ? &*found : nullptr;
}

// Samples of the block's warps that wait at barriers while one warp polls, and of a warp whose other lanes wait for the
// one that sleeps between two polls.
std::uint64_t waiting_at(const ModuleStalls& stalls, const std::set<CodePlace>& barriers) {
  std::uint64_t samples = 0;
  for (const CodePlace& place : barriers) {
    const SampledPc* pc = sampled_at(stalls, place);
    if (pc == nullptr) continue;
    for (const StallShare& share : pc->reasons)
      samples += share.reason == "barrier" || share.reason == "sleeping" ? share.samples : 0;
  }
  return samples;
}

double confidence_of(const LoopJudgement& judgement, std::size_t instructions, const std::vector<StallShare>& reasons,
                     std::uint64_t samples) {
  double confidence = kBaseConfidence;
  confidence += judgement.strong ? kStrongLoadBonus : judgement.fences ? kFenceBonus : -kOrdinaryLoadPenalty;
  if (judgement.arithmetic == 0) confidence += kNoArithmeticBonus;
  if (judgement.integers > kFreeIntegers)
    confidence -= kIntegerPenalty * static_cast<double>(judgement.integers - kFreeIntegers);
  if (instructions <= kShortLoop) confidence += kShortLoopBonus;
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

void count_samples(PollingLoop& found, std::uint64_t function, std::uint64_t device,
                   const std::vector<const SampledPc*>& pcs) {
  found.samples = samples_of(pcs);
  found.share = ratio(found.samples, device);
  found.behind_share = ratio(found.behind, device);
  found.function_share = ratio(found.samples, function);
  found.reasons = sum_reasons(pcs);
}

// A loop of machine instructions that polls.
struct Candidate {
  LoopJudgement judgement;
  std::set<CodePlace> body;
  std::set<CodePlace> barriers;  // behind it, in each routine that contains it
  std::vector<SassInstruction> code;
  std::vector<CodePlace> places;  // of `code`
  SassInstruction poll;
  CodePlace poll_place;
  MbarrierWait at_mbarrier;
  std::size_t copies = 1;  // loops of the same shape
};

PollingLoop from_sass(const ModuleStalls& stalls, std::uint64_t device, const Candidate& candidate) {
  const std::string& symbol = candidate.poll_place.symbol;
  // A loop that calls the function with the poll is named after the function that has the loop.
  const auto owner = stalls.contains(candidate.places.front().symbol) ? stalls.find(candidate.places.front().symbol)
                                                                      : stalls.find(symbol);
  PollingLoop found = base_loop(*(owner == stalls.end() ? stalls.begin() : owner)->second);
  const LoopJudgement& judgement = candidate.judgement;
  found.kind = judgement.kind;
  found.waited_for = judgement.waited_for;
  found.from_instructions = true;
  found.begin = found.end = candidate.places.front().offset;
  for (const CodePlace& place : candidate.places) {
    if (place.symbol == candidate.places.front().symbol) found.end = std::max(found.end, place.offset);
  }
  found.sleeps = judgement.sleeps;
  found.deadline = judgement.deadline;
  found.copies = candidate.copies;
  found.role = candidate.at_mbarrier.role;
  found.behind = waiting_at(stalls, candidate.barriers);
  std::vector<const SampledPc*> pcs;
  std::set<std::string> functions;
  for (const CodePlace& place : candidate.body) {
    functions.insert(place.symbol);
    if (const SampledPc* pc = sampled_at(stalls, place)) pcs.push_back(pc);
  }
  std::uint64_t function_samples = 0;
  for (const std::string& function : functions) {
    if (const auto sampled = stalls.find(function); sampled != stalls.end())
      function_samples += sampled->second->samples;
  }
  count_samples(found, function_samples, device, pcs);
  found.confidence = confidence_of(judgement, candidate.code.size(), found.reasons, found.samples);

  // Prefers the listing's line, which is in the user's code even after inlining, to CUPTI's.
  found.file = candidate.poll.file;
  found.line = candidate.poll.line;
  for (const SampledPc* pc : pcs) {
    if (candidate.poll.line != 0 || pc->line == 0) continue;
    if (found.line != 0 && pc != sampled_at(stalls, candidate.poll_place)) continue;
    found.file = pc->file;
    found.line = pc->line;
  }
  found.evidence = evidence_text(found, function_samples, judgement, candidate.code.size());
  if (const std::string role = role_text(candidate.at_mbarrier); !role.empty()) found.evidence.push_back(role);
  for (const SassInstruction& instruction : candidate.code) {
    found.code.push_back(listing_line(instruction));
    found.code_lines.push_back(instruction.line);
  }
  return found;
}

// Whether a loop found in instructions waits. The samples at the barrier behind it count, too.
bool waits_enough(const PollingLoop& loop) {
  if (loop.kind == LoopKind::try_wait) return loop.samples > 0;  // nothing else is done there
  const double waiting =
      waiting_share(loop.reasons) * static_cast<double>(loop.samples) + static_cast<double>(loop.behind);
  return loop.samples > 0 && waiting >= kMinWaitingShareOfCode * static_cast<double>(loop.samples + loop.behind);
}

bool matters(const PollingLoop& loop, std::uint64_t function_samples) {
  const bool code = loop.from_instructions;
  const double function_share = ratio(loop.samples + loop.behind, function_samples);
  const double device_share = loop.share + loop.behind_share;
  const bool enough = device_share >= (code ? kMinDeviceShareOfCode : kMinDeviceShare) ||
                      function_share >= (code ? kMinFunctionShareOfCode : kMinFunctionShare);
  if (code) return loop.samples + loop.behind >= kMinOwnSamples && enough && waits_enough(loop);
  return loop.samples >= kMinOwnSamples && loop.samples + loop.behind >= kMinSamples && enough &&
         waiting_share(loop.reasons) >= kMinWaitingShare;
}

// The polling loops of a module, each once, though it may be part of several routines.
std::vector<Candidate> candidates_of(const SassFunctions& functions, const ModuleStalls& stalls) {
  std::vector<Candidate> found;
  std::map<std::set<CodePlace>, std::size_t> known;
  for (const auto& [symbol, function] : stalls) {
    if (!functions.contains(symbol)) continue;
    const Routine routine = with_callees(functions, symbol);
    for (const SassLoop& loop : find_loops(routine.code)) {
      Candidate candidate;
      candidate.judgement = judge_loop(routine.code, loop);
      const bool at_mbarrier = candidate.judgement.kind == LoopKind::try_wait;
      if (!is_polling(candidate.judgement.kind) && !at_mbarrier) continue;
      for (const std::size_t i : loop.body) candidate.body.insert(routine.origins[i]);
      if (at_mbarrier) {
        candidate.at_mbarrier = mbarrier_wait_of(routine.code, loop);
        for (const std::size_t i : candidate.at_mbarrier.tries) candidate.body.insert(routine.origins[i]);
      } else {
        candidate.barriers = barriers_after(routine, loop);
      }
      const auto [before, is_new] = known.insert({candidate.body, found.size()});
      if (!is_new) {
        found[before->second].barriers.merge(candidate.barriers);
        continue;
      }
      for (const std::size_t i : loop.body) {
        candidate.code.push_back(routine.code[i]);
        candidate.places.push_back(routine.origins[i]);
      }
      candidate.poll = routine.code[*candidate.judgement.poll_at];
      candidate.poll_place = routine.origins[*candidate.judgement.poll_at];
      found.push_back(std::move(candidate));
    }
  }
  std::ranges::stable_sort(found, [](const Candidate& a, const Candidate& b) { return a.body.size() < b.body.size(); });
  return found;
}

// Of nested loops, the inner one is the wait, unless the outer one has clearly more samples, or is a lock that is read
// before each attempt to take it.
std::vector<Candidate> without_nested(std::vector<Candidate> candidates, const ModuleStalls& stalls,
                                      std::uint64_t device) {
  std::vector<std::pair<Candidate, std::uint64_t>> found;  // with their samples
  for (Candidate& candidate : candidates) {
    const PollingLoop loop = from_sass(stalls, device, candidate);
    if (!waits_enough(loop)) continue;
    // Compares instructions rather than ranges of offsets: part of a loop may be after the kernel's end, with other
    // loops in between.
    const auto shares = [&](const auto& other) {
      return std::ranges::any_of(other.first.body,
                                 [&](const CodePlace& place) { return candidate.body.contains(place); });
    };
    std::uint64_t inner = 0;
    for (const auto& other : found) inner += shares(other) ? other.second : 0;
    const bool adds = static_cast<double>(loop.samples) > kMinGainOverInner * static_cast<double>(inner);
    if (inner > 0 && loop.kind != LoopKind::lock && !adds) continue;
    std::erase_if(found, shares);
    found.emplace_back(std::move(candidate), loop.samples);
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Candidate> kept;
  for (auto& [candidate, samples] : found) kept.push_back(std::move(candidate));
  return kept;
}

// The compiler repeats a wait when it unrolls the loop around it. Each copy alone may have too few samples to matter,
// so copies count together: loops of one function that poll in the same way, on the same source line if lines are
// known.
std::vector<Candidate> merge_copies(std::vector<Candidate> candidates) {
  using Shape = std::tuple<std::string, LoopKind, PipelineRole, std::string, std::string, std::uint32_t, std::size_t>;
  std::map<Shape, std::size_t> known;
  std::vector<Candidate> merged;
  for (Candidate& candidate : candidates) {
    const bool lines = candidate.poll.line != 0;
    const Shape shape{candidate.places.front().symbol,  candidate.judgement.kind, candidate.at_mbarrier.role,
                      candidate.poll.operation,         candidate.poll.file,      candidate.poll.line,
                      lines ? 0 : candidate.code.size()};
    const auto [first, is_new] = known.insert({shape, merged.size()});
    if (is_new) {
      merged.push_back(std::move(candidate));
      continue;
    }
    Candidate& whole = merged[first->second];
    whole.body.merge(candidate.body);
    whole.barriers.merge(candidate.barriers);
    ++whole.copies;
  }
  return merged;
}

std::vector<PollingLoop> loops_of(const SassFunctions& functions, const ModuleStalls& stalls, std::uint64_t device) {
  std::vector<PollingLoop> loops;
  for (const Candidate& candidate : merge_copies(without_nested(candidates_of(functions, stalls), stalls, device))) {
    PollingLoop loop = from_sass(stalls, device, candidate);
    const auto function = stalls.find(loop.symbol);
    if (matters(loop, function == stalls.end() ? 0 : function->second->samples)) loops.push_back(std::move(loop));
  }
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
  count_samples(found, stalls.samples, device, pcs);
  found.evidence = evidence_text(found, stalls.samples);
  if (memory_share(found.reasons) < kMinMemoryShare || found.share < kMinDeviceShare || !matters(found, stalls.samples))
    return std::nullopt;
  // A wait loop stores nothing, whereas a loop with stores waits for them when it ends.
  if (share_of(found.reasons, "drain") >= kMaxDrainShare) return std::nullopt;
  const double branches = share_of(found.reasons, "branch_resolve") + share_of(found.reasons, "branch_resolving");
  const bool fence = share_of(found.reasons, "membar") >= kFenceShare;
  found.sleeps = share_of(found.reasons, "sleeping") >= kSleepShare;
  // A tight loop waits for its branch in every round; a streaming loop is unrolled.
  found.confidence = kSamplesConfidence + (branches >= kBranchShare ? kBranchBonus : 0) +
                     (fence || found.sleeps ? kFenceOrSleepBonus : 0);
  const auto hottest = std::ranges::max_element(pcs, [](const SampledPc* a, const SampledPc* b) {
    return std::pair(a->line != 0, a->samples) < std::pair(b->line != 0, b->samples);
  });
  found.file = (*hottest)->file;
  found.line = (*hottest)->line;
  return found;
}

// The kernels that ran on the same device at the same time; longest overlap first.
std::vector<std::string> beside(const TraceModel& model, const PollingLoop& loop) {
  std::vector<std::pair<TimeNs, TimeNs>> polling;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.device != loop.device || !is_of_kernel(loop, kernel.name)) continue;
    if (!polling.empty() && kernel.start <= polling.back().second) {
      polling.back().second = std::max(polling.back().second, kernel.end);
    } else {
      polling.emplace_back(kernel.start, kernel.end);  // kernels are in order of start
    }
  }
  std::map<std::string, TimeNs> together;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.device != loop.device || is_of_kernel(loop, kernel.name)) continue;
    auto span =
        std::partition_point(polling.begin(), polling.end(), [&](const auto& p) { return p.second <= kernel.start; });
    for (; span != polling.end() && span->first < kernel.end; ++span) {
      together[kernel.name] += std::min(span->second, kernel.end) - std::max(span->first, kernel.start);
    }
  }
  std::vector<std::pair<std::string, TimeNs>> order(together.begin(), together.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (auto& [name, time] : order) {
    if (time > 0) names.push_back(std::move(name));
  }
  return names;
}

/// Patched loops are named KERNEL:LINE, or KERNEL:siteN without source lines, and #2 and so on behind the name of
/// another one (rewriter/waits). A line tells the loop; without lines a kernel's only patched loop is its only loop
/// here.
std::vector<SiteId> patched_loops_of(const TraceModel& model, const std::vector<PollingLoop>& loops,
                                     const PollingLoop& loop) {
  const std::string prefix = short_symbol(loop.symbol) + ':';
  std::vector<SiteId> same, unplaced;
  for (const store::SiteRow& site : model.sites) {
    if (!site.name.starts_with(prefix)) continue;
    const std::string place = site.name.substr(prefix.size(), site.name.find('#') - prefix.size());
    if (place.starts_with("site")) unplaced.push_back(site.id);
    if (loop.line != 0 && place == std::to_string(loop.line)) same.push_back(site.id);
  }
  const bool alone = std::ranges::count(loops, loop.symbol, &PollingLoop::symbol) == 1;
  return same.empty() && alone && unplaced.size() == 1 ? unplaced : same;
}

}  // namespace

std::vector<PollingLoop> find_polling_loops(const TraceModel& model, const Stalls& stalls) {
  const std::map<std::uint64_t, SassFunctions> modules = decode_all(model);
  std::vector<PollingLoop> loops;
  std::map<std::pair<DeviceId, std::uint64_t>, ModuleStalls> sampled;
  for (const FunctionStalls& function : stalls.functions) {
    const auto module = modules.find(function.module);
    if (module != modules.end() && module->second.contains(function.symbol)) {
      sampled[{function.device, function.module}][function.symbol] = &function;
    } else if (std::optional<PollingLoop> loop = from_samples(function, device_samples(stalls, function.device))) {
      loops.push_back(*std::move(loop));
    }
  }
  for (const auto& [key, functions] : sampled) {
    for (PollingLoop& loop : loops_of(modules.at(key.second), functions, device_samples(stalls, key.first))) {
      loops.push_back(std::move(loop));
    }
  }
  for (PollingLoop& loop : loops) {
    loop.beside = beside(model, loop);
    if (is_patched(model)) loop.sites = patched_loops_of(model, loops, loop);
  }
  std::ranges::stable_sort(loops, [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return loops;
}

bool is_of_kernel(const PollingLoop& loop, std::string_view kernel) {
  return !kernel.empty() && (kernel == loop.function || kernel == loop.symbol);
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
    case LoopKind::try_wait:
      return "waits at an mbarrier";
    case LoopKind::atomic_poll:
      return "polls a word by an atomic";
    default:
      return loop.sleeps ? "polls a word, with sleeps" : "polls a word";
  }
}

}  // namespace wicprof::analyzer
