#include "analyzer/rules/slower_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/rules/late_arrivals.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

std::optional<Finding> slower_rank(const RuleInput& input, RankCause cause) {
  const MpiWaits& mpi = input.mpi;
  if (mpi.why.cause != cause || !mpi.why.slower || mpi.ranks.size() < 2 || input.ground_ns() <= 0) return std::nullopt;
  const RankCost& late = mpi.ranks.front();
  const SlowerWork& slower = *mpi.why.slower;
  const TimeNs each = late.cost_ns / static_cast<TimeNs>(mpi.ranks.size() - 1);
  const TimeNs gain = std::min(each, slower.longer_ns);
  const double share = std::min(1.0, static_cast<double>(gain) / static_cast<double>(input.ground_ns()));
  if (share < kWorthNaming || worst_arrivals(mpi, late.process).chance > kByChance) return std::nullopt;
  Finding finding;
  finding.severity = share < kWarning ? Severity::info : Severity::warning;
  const bool of_kernels = cause == RankCause::slow_device;
  finding.text = fmt::format(
      fmt::runtime(of_kernels
                       ? "the device of rank {} takes {:.2f} times as long as the others' for the same kernels"
                       : "copies of rank {} from and to its device take {:.2f} times as long as the same ones of "
                         "the others"),
      late.rank, slower.times);
  finding.text +=
      fmt::format(" (confidence {:.2f}); at the others' speed the job would take at most {:.1f} % less time",
                  mpi.why.confidence, 100 * share);
  finding.cost = Cost{Cost::Unit::time, share};
  finding.evidence = fmt::format(
      "{}, equally often in all ranks; most in {}, {:.2f} times; in sum {} longer than the median of the others, which "
      "waited {} each for the rank",
      count_of(slower.kinds, of_kernels ? "kernel shape" : "copy size"), slower.most, slower.most_times,
      format_duration(slower.longer_ns), format_duration(each));
  return finding;
}

}  // namespace wicprof::analyzer
