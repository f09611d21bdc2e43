#include "analyzer/ranks/efficiency.h"

#include <algorithm>

namespace wicprof::analyzer {

std::optional<RankEfficiency> rank_efficiency(const std::vector<WorkAndWaits>& ranks) {
  double run = 0, useful = 0, longest = 0, with_waits = 0;
  for (const auto& [work, waited] : ranks) {
    if (work == nullptr || !(work->known || work->on_device) || work->run <= 0 || work->outside > work->run)
      return std::nullopt;
    const auto own = static_cast<double>(work->outside), all = static_cast<double>(work->run);
    run = std::max(run, all);
    useful += own;
    longest = std::max(longest, own);
    with_waits = std::max(with_waits, std::min(own + static_cast<double>(waited), all));
  }
  if (ranks.size() < 2 || longest <= 0) return std::nullopt;
  RankEfficiency of;
  of.run_ns = static_cast<TimeNs>(run);
  of.load_balance = useful / static_cast<double>(ranks.size()) / longest;
  of.serialisation = longest / with_waits;
  of.transfer = with_waits / run;
  of.communication = longest / run;
  of.parallel = of.load_balance * of.communication;
  return of;
}

}  // namespace wicprof::analyzer
