#include <algorithm>
#include <map>

#include "analyzer/figures/list.h"

namespace wicprof::analyzer {
namespace {

/// The nearest-rank median.
double median(std::vector<std::uint32_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

template <>
Figure figure<5>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "polling_share = sum of W_p / sum of (W_p + W_t), over the waits whose W_t is known; checks: reads of the word "
      "per wait";
  figure.columns = {"trace", "mode", "site", "polling_share", "checks_mean", "checks_p50", "checks_max"};
  figure.series = 2;
  figure.y = 4;
  bool share_unknown = false;
  for (const auto& trace : input) {
    const TraceModel& model = trace->model;
    std::map<std::pair<SiteId, Mode>, std::vector<std::uint32_t>> checks;
    for_each_wait(model, [&](const WaitView& wait) {
      if (wait.in_call || !wait.polls) return;
      checks[{wait.site, trace->modes.at(wait.site, wait.begin)}].push_back(*wait.polls);
    });
    for (const SiteWaits& part : trace->waits.sites()) {
      const auto found = checks.find({part.site, part.mode});
      if (found == checks.end()) continue;
      std::vector<std::uint32_t>& values = found->second;
      double sum = 0;
      for (const std::uint32_t value : values) sum += value;
      const auto whole = static_cast<double>(part.sums.waiting_of_transfers_ns + part.sums.transfer_ns);
      std::optional<double> share;
      if (part.sums.transfers > 0 && whole > 0) {
        share = static_cast<double>(part.sums.waiting_of_transfers_ns) / whole;
      }
      share_unknown = share_unknown || !share;
      const double most = *std::max_element(values.begin(), values.end());
      std::vector<FigureCell> row = row_head(*trace, part.mode, part.site);
      row.insert(row.end(), {cell(share), sum / static_cast<double>(values.size()), median(values), most});
      figure.rows.push_back(std::move(row));
    }
  }
  if (figure.rows.empty()) figure.missing = "the trace holds no waits that count their checks";
  if (!figure.rows.empty() && share_unknown) {
    figure.notes.push_back(
        "the share is unknown where no copy carries the data: the trace does not show how long the consumer reads it");
  }
  return figure;
}

}  // namespace wicprof::analyzer
