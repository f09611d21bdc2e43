// Kernels that start when the one before them is done, where an earlier start could gain time (cuSync), and kernels
// that another one keeps off some SMs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"
#include "analyzer/work/dependent_kernels.h"

namespace wicprof::analyzer {
namespace {

std::string name_of(const PairKernel& kernel) { return shorten(function_name(one_line(kernel.name)), 60); }

std::string kernel_words(const PairKernel& kernel) {
  std::string words = fmt::format("{}: {}", name_of(kernel), count_of(kernel.blocks, "block"));
  if (kernel.persistent)
    return words + ", as many on each SM (persistent: the number of its tiles is not in the trace)";
  if (kernel.waves > 0)
    words += fmt::format(" in {:.2f} waves, the last one {} full", kernel.waves, format_percent(kernel.last_wave_fill));
  return words;
}

std::string bound_words(const Bound& bound, double whole) {
  return fmt::format("{} of the time (0 to {})", format_percent(bound.value / whole),
                     format_percent(bound.high / whole));
}

/// The high end of the gain that is expected to be the largest.
double most_ns(const DependentPair& pair) {
  if (pair.tiles && pair.tiles->value >= pair.best_ns()) return pair.tiles->high;
  return pair.carve_out && pair.carve_out->value >= pair.best_ns() ? pair.carve_out->high : pair.dependent.high;
}

std::string remedy(const DependentPair& pair) {
  const std::string producer = name_of(pair.producer), consumer = name_of(pair.consumer);
  const std::string condition = fmt::format("if {} reads the results of {} part by part", consumer, producer);
  const double tiles = pair.tiles ? pair.tiles->value : 0, carved = pair.carve_out ? pair.carve_out->value : 0;
  const double most = std::max(tiles, carved);
  // Only launching is worth changing where waiting for tiles gains next to nothing beyond it.
  if (pair.dependent.value > 0.9 * most)
    return fmt::format(
        "launch {} as a dependent kernel (programmatic dependent launch: cudaLaunchAttributeProgrammaticStream"
        "Serialization), so that its start and what it does before it reads results lie beside the end of {}",
        consumer, producer);
  if (carved > 1.1 * tiles)
    return fmt::format(
        "{}: run both at once, {} on {} of its own and with tiles that wait (wic/tiles.h, wic-prof explain tile)",
        condition, consumer, count_of(pair.carve_out_sms, "SM"));
  return fmt::format(
      "{}: launch both at once and let each block of {} wait for the tiles that it needs (wic/tiles.h, wic-prof "
      "explain "
      "tile); wic-prof toggle park can park these waits",
      condition, consumer);
}

/// A kernel beside one that holds SMs; nothing if a carve-out would save little.
std::optional<Finding> crowded_finding(const CrowdedKernel& crowded, double whole) {
  const double share = crowded.carve_out && whole > 0 ? crowded.carve_out->value / whole : 0;
  if (share < kWorthNamingPair) return std::nullopt;
  const std::string kernel = name_of(crowded.kernel), holder = name_of(crowded.holder);
  const double beside = static_cast<double>(crowded.beside_ns) / static_cast<double>(crowded.launches);
  const double alone = static_cast<double>(crowded.alone_ns) / static_cast<double>(crowded.alone);
  Finding finding;
  finding.cost = Cost{Cost::Unit::time, share};
  finding.severity = share >= kWarning ? Severity::warning : Severity::info;
  finding.text = fmt::format("{} takes {:.2f} times as long beside {}, whose blocks hold {} of {} SMs", kernel,
                             beside / alone, holder, crowded.held_sms, crowded.sm_count);
  finding.evidence = fmt::format(
      "{} beside it of {} each, {} alone of {} each; no block of {} fits on an SM beside those of {}; with its blocks "
      "spread over the other SMs it saves {}",
      count_of(crowded.launches, "run"), format_duration(static_cast<TimeNs>(beside)), count_of(crowded.alone, "run"),
      format_duration(static_cast<TimeNs>(alone)), kernel, holder, bound_words(*crowded.carve_out, whole));
  finding.remedy = fmt::format(
      "launch {} with as many blocks as {} SMs hold (libraries call this an SM carve-out), or {} with fewer "
      "blocks",
      kernel, crowded.sm_count - crowded.held_sms, holder);
  return finding;
}

}  // namespace

template <>
RuleOutcome apply<struct DependentKernelPairs>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.kernels.empty()) {
    outcome.refused = "the trace holds no kernels";
    return outcome;
  }
  const double whole = static_cast<double>(input.model.span());
  bool any_waves = false, any_lacks = false;
  for (const DependentPair& pair : input.dependent_kernels.pairs) {
    any_waves |= pair.why == NoWaves::known;
    any_lacks |= pair.why == NoWaves::no_limits;
    if (!pair.worth_naming(whole)) continue;
    const double share = pair.best_ns() / whole;
    Finding finding;
    finding.cost = Cost{Cost::Unit::time, share};
    finding.severity = share >= kWarning ? Severity::warning : Severity::info;
    finding.text = fmt::format(
        "{} starts only when all of {} is done; an earlier start could save about {} of the traced time "
        "(0 to {})",
        name_of(pair.consumer), name_of(pair.producer), format_percent(share), format_percent(most_ns(pair) / whole));
    std::string evidence = fmt::format("{}; {}; {} with {} between both on average", kernel_words(pair.producer),
                                       kernel_words(pair.consumer), count_of(pair.launches, "run"),
                                       format_duration(pair.gap_ns / static_cast<TimeNs>(pair.launches)));
    if (pair.tiles && pair.carve_out) {
      evidence += fmt::format("; waiting for tiles saves {}, SMs of its own {},", bound_words(*pair.tiles, whole),
                              bound_words(*pair.carve_out, whole));
    } else {
      evidence += fmt::format("; {}, so what waiting for tiles gains is unknown;", no_waves_reason(pair.why));
    }
    finding.evidence =
        evidence + fmt::format(
                       " dependent launch {}: computed, for blocks that take equally long; the trace does not "
                       "show what {} reads",
                       bound_words(pair.dependent, whole), name_of(pair.consumer));
    finding.remedy = remedy(pair);
    outcome.findings.push_back(std::move(finding));
  }
  for (const CrowdedKernel& crowded : input.crowded_kernels) {
    // Turns make kernels longer that run alone, and those beside others: their lengths cannot be compared.
    const bool interrupted =
        std::ranges::any_of(input.interrupted_kernels, [&](const auto& of) { return of.device == crowded.device; });
    if (interrupted) continue;
    if (std::optional<Finding> finding = crowded_finding(crowded, whole))
      outcome.findings.push_back(std::move(*finding));
  }
  if (!any_waves && any_lacks && outcome.findings.empty())
    outcome.refused = std::string(no_waves_reason(NoWaves::no_limits));
  return outcome;
}

}  // namespace wicprof::analyzer
