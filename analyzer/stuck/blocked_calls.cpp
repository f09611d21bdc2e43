#include "analyzer/stuck/blocked_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

constexpr std::size_t kMostSamples = 4, kMostNames = 6;

/// The kernel that runs, as far as it is known.
std::string running_one(const StuckView& view, const std::vector<const OpenKernel*>& kernels,
                        std::vector<std::string>& evidence) {
  const auto named = [&](const OpenKernel& kernel) {
    return fmt::format("kernel {}, launched {} ago on stream 0x{:x}", one_line(function_name(kernel.name)),
                       age(view.now, kernel.launched), kernel.stream);
  };
  if (kernels.size() == 1) return named(*kernels.front());
  std::set<std::string> sampled, candidates;
  for (const SampledPlace& place : view.samples) sampled.insert(function_name(place.function));
  const OpenKernel* only = nullptr;
  for (const OpenKernel* kernel : kernels) {
    const std::string name = function_name(kernel->name);
    candidates.insert(name);
    if (sampled.contains(name)) only = kernel;
  }
  const bool one = std::count_if(candidates.begin(), candidates.end(),
                                 [&](const std::string& name) { return sampled.contains(name); }) == 1;
  if (one) {
    evidence.emplace_back("of the kernels there, samples of the last seconds show only this one");
    return named(*only);
  }
  evidence.emplace_back("some of these kernels may have ended: CUPTI reports ends late");
  std::string names;
  std::size_t shown = 0;
  for (const std::string& name : candidates) {
    if (++shown > kMostNames) break;
    names += (names.empty() ? "" : ", ") + one_line(name);
  }
  return fmt::format("one of {} kernels of the stream without a known end ({}{})", kernels.size(), names,
                     candidates.size() > kMostNames ? ", ..." : "");
}

}  // namespace

std::vector<Cause> explain_calls(const StuckView& view, const WaitedWords& all,
                                 const std::set<std::uint32_t>& wait_in_nccl) {
  std::vector<Cause> causes;
  for (const auto& [process, call] : view.calls) {
    if (call.begin == 0 || call.waits_for_word != 0 || view.now - call.begin < kLongAfter) continue;
    Cause cause;
    cause.since = call.begin;
    const std::string thread = fmt::format("host thread {} of process {} has waited in {} for {}", call.thread, process,
                                           call.name, age(view.now, call.begin));
    std::vector<const OpenKernel*> kernels;
    for (const auto& [owner, kernel] : view.kernels) {
      if (owner != process || kernel.launched > call.begin) continue;
      if (call.awaited == Awaited::stream && kernel.stream != call.stream) continue;
      kernels.push_back(&kernel);
    }
    const bool explained = std::any_of(all.words.begin(), all.words.end(), [&, of = process](const WaitedWord& word) {
      return word.device != kHostDevice && !word.is_satisfied() &&
             std::count(word.processes.begin(), word.processes.end(), of) > 0;
    });
    cause.confidence = Confidence::unknown;
    if (explained) {
      cause.kind = CauseKind::consequence;
      cause.text = thread + ", behind a kernel that waits";
    } else if (wait_in_nccl.contains(process)) {
      cause.kind = CauseKind::consequence;
      cause.text = thread + ", while a collective of NCCL waits there for other ranks";
    } else if (!kernels.empty()) {
      cause.kind = CauseKind::running_kernel;
      cause.text = fmt::format(
          "{}, behind {}: what its warps wait for, if they wait, is unknown, since they do not "
          "wait through wic",
          thread, running_one(view, kernels, cause.evidence));
    } else {
      cause.kind = CauseKind::waiting_call;
      cause.text = thread + (view.sees_launches ? ": no kernel there is known to run, so what it waits for is unknown"
                                                : ": which kernel runs there is unknown, since launches are not "
                                                  "recorded (--trace with the word launches)");
    }
    for (const SampledPlace& place : view.samples) {
      cause.evidence.push_back(
          fmt::format("{} samples of {} at offset 0x{:x}{}: {}", place.samples, one_line(function_name(place.function)),
                      place.offset, place.file.empty() ? "" : fmt::format(" ({}:{})", one_line(place.file), place.line),
                      place.reason));
      if (cause.evidence.size() == kMostSamples) break;
    }
    causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace wicprof::analyzer
