#include "analyzer/figures/list.h"
#include "analyzer/figures/pairs.h"

namespace wicprof::analyzer {
namespace {

FigureCell consumer_share(const FigureTrace& trace, Mode mode) {
  const std::optional<SiteWaits> whole = trace.waits.whole(mode);
  return whole ? cell(whole->consumer_share) : FigureCell{};
}

}  // namespace

template <>
Figure figure<12>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "speedup = median iteration polled / parked, as compare estimates it; low and high: its interval; consumer "
      "shares "
      "as in figure 2";
  figure.columns = {"trace", "speedup", "low", "high", "consumer_share_poll", "consumer_share_park"};
  figure.y = 1;
  for (const PolledAndParked& pair : polled_and_parked(input)) {
    std::string name = pair.polled->model.name;
    if (pair.parked != pair.polled) name += ", " + pair.parked->model.name;
    const std::optional<Speedup>& speedup = pair.comparison.speedup;
    if (!speedup) figure.notes.push_back(name + ": " + pair.comparison.reason);
    figure.rows.push_back({name, speedup ? FigureCell(speedup->value) : FigureCell{},
                           speedup ? FigureCell(speedup->low) : FigureCell{},
                           speedup ? FigureCell(speedup->high) : FigureCell{}, consumer_share(*pair.polled, Mode::poll),
                           consumer_share(*pair.parked, Mode::park)});
  }
  if (figure.rows.empty()) figure.missing = kNoPairs;
  return figure;
}

}  // namespace wicprof::analyzer
