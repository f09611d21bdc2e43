// A last wave of blocks that leaves the device half empty and delays the next kernel of the stream (cuSync).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"

namespace wicprof::analyzer {
namespace {

/// A kernel that starts this soon after its predecessor's end was ready before that end. Not calibrated.
constexpr TimeNs kRightBehind = 10'000;
/// Least share of the launches with such a successor. Not calibrated.
constexpr double kMostly = 0.5;
/// Time lost in the last wave, as shares of the traced time. cuSync gains up to 1.19 times on programs that lose time
/// only there. A comparison counts 2 % as a change; kWarning is not calibrated.
constexpr double kWarning = 0.05;
constexpr double kWorthNaming = 0.02;

struct Followed {
  std::uint64_t launches = 0, behind = 0;  ///< behind: launches with a ready successor
  std::map<std::string_view, std::uint64_t> by;
};

/// By kernel name, the kernels that directly follow it on its stream.
std::map<std::string_view, Followed> followers(const TraceModel& model) {
  std::map<std::string_view, Followed> all;
  std::map<std::tuple<store::ProcessId, std::uint32_t, std::uint32_t>, const store::KernelRow*> last;
  for (const store::KernelRow& kernel : model.kernels) {
    const store::KernelRow*& before = last[{kernel.process, kernel.context, kernel.stream}];
    if (before != nullptr && kernel.start >= before->end && kernel.start - before->end <= kRightBehind) {
      Followed& followed = all[before->name];
      ++followed.behind;
      ++followed.by[kernel.name];
    }
    before = &kernel;
    ++all[kernel.name].launches;
  }
  return all;
}

}  // namespace

template <>
RuleOutcome apply<struct UnderfilledWave>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.kernels.empty()) {
    outcome.refused = "the trace holds no kernels";
    return outcome;
  }
  const auto all = followers(model);
  bool any_known = false;
  for (const KernelStats& kernel : input.kernels) {
    if (!kernel.waves) continue;
    any_known = true;
    const Followed& followed = all.at(kernel.name);
    const double whole = std::ceil(kernel.waves->waves);
    if (whole < 1 || kernel.blocks_per_cluster != 0) continue;
    // All waves take about the same time, so the empty part of the last one is lost.
    const double lost = (1 - kernel.waves->last_wave_fill) / whole;
    const double share = lost * kernel.share;
    const bool kept_out = static_cast<double>(followed.behind) >= kMostly * static_cast<double>(followed.launches);
    if (share < kWorthNaming || !kept_out || followed.behind == 0) continue;
    const auto next = std::max_element(followed.by.begin(), followed.by.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string name = shorten(function_name(one_line(kernel.name)), 60);
    const std::string behind = shorten(function_name(one_line(next->first)), 60);
    Finding finding;
    finding.severity = share >= kWarning ? Severity::warning : Severity::info;
    finding.text = fmt::format("the last wave of {} fills {} of the device, and {} cannot start until it is done", name,
                               format_percent(kernel.waves->last_wave_fill), behind);
    finding.evidence = fmt::format(
        "{} in {:.2f} waves (computed, not measured); in {} of {} launches the next kernel of the stream follows "
        "directly; this loses at most {} of the traced time",
        count_of(kernel.blocks, "block"), kernel.waves->waves, format_count(followed.behind),
        format_count(followed.launches), format_percent(share));
    finding.remedy = fmt::format(
        "launch both at once and let each block of {} wait for the blocks of {} that it needs (wic::wait_until with "
        "wic::signal, docs/waiting.md, which wic-prof toggle park can park); or make the number of blocks a multiple "
        "of {}",
        behind, name,
        format_count(static_cast<std::uint64_t>(static_cast<double>(kernel.blocks) / kernel.waves->waves + 0.5)));
    outcome.findings.push_back(std::move(finding));
  }
  if (!any_known) outcome.refused = "the trace lacks the devices' limits, which determine how many blocks fit";
  return outcome;
}

}  // namespace wicprof::analyzer
