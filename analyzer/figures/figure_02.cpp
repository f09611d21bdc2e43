#include "analyzer/figures/list.h"

namespace wicprof::analyzer {

template <>
Figure figure<2>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "consumer_share = sum of (W_p + W_t) over the waits / (waiters x time in the mode); producer_share = sum of W_t, "
      "once per signal / time in the mode. Only known W_t count";
  figure.columns = {"trace", "mode", "site", "consumer_share", "producer_share"};
  figure.series = 2;
  figure.y = 3;
  figure.shares = true;
  bool transfers_unknown = false;
  const auto add = [&](const FigureTrace& trace, const SiteWaits& part) {
    std::vector<FigureCell> row = row_head(trace, part.mode, part.site);
    row.push_back(cell(part.consumer_share));
    row.push_back(cell(part.producer_share));
    transfers_unknown = transfers_unknown || !part.producer_share;
    figure.rows.push_back(std::move(row));
  };
  for (const auto& trace : input) {
    for (const Mode mode : {Mode::poll, Mode::park}) {
      if (const auto whole = trace->waits.whole(mode)) add(*trace, *whole);
    }
    for (const SiteWaits& part : trace->waits.sites()) add(*trace, part);
  }
  if (figure.rows.empty()) figure.missing = "the trace holds no waits at wait sites";
  if (!figure.rows.empty() && transfers_unknown) {
    figure.notes.push_back(
        "the producer's share is known only where copies carry the data; a kernel that stores its data into the "
        "consumer's memory does so as part of its computation");
  }
  return figure;
}

}  // namespace wicprof::analyzer
