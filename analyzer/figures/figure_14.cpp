#include "analyzer/figures/list.h"

namespace wicprof::analyzer {

template <>
Figure figure<14>(const FigureInput& input) {
  Figure figure;
  figure.formula =
      "sum over the waits of the time in which any block computed on the waiter's SM / sum of their lengths. "
      "overlapped: "
      "blocks that the trace shows computing; at_most: also blocks that never wait, for as long as their kernel ran";
  figure.columns = {"trace", "mode", "overlapped", "at_most"};
  figure.series = 1;
  figure.y = 2;
  figure.shares = true;
  for (const auto& trace : input) {
    const Overlaps overlaps =
        trace->overlaps ? *trace->overlaps : overlap(trace->model, *trace->waiters, *trace->kernels, trace->modes);
    if (!overlaps.missing.empty()) figure.missing = overlaps.missing;
    for (const Overlap& part : overlaps.modes) {
      figure.rows.push_back({trace->model.name, std::string(mode_name(part.mode)), part.seen, cell(part.at_most)});
    }
  }
  if (!figure.rows.empty()) figure.missing.clear();
  return figure;
}

}  // namespace wicprof::analyzer
