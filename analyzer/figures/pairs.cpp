#include "analyzer/figures/pairs.h"

#include <algorithm>

namespace wicprof::analyzer {

std::vector<PolledAndParked> polled_and_parked(const FigureInput& input) {
  std::vector<PolledAndParked> pairs;
  std::vector<const FigureTrace*> polled, parked;
  for (const auto& trace : input) {
    if (trace->modes.both()) {
      pairs.push_back({trace.get(), trace.get(), compare(trace->model)});
    } else {
      (trace->modes.at(0, trace->model.begin) == Mode::poll ? polled : parked).push_back(trace.get());
    }
  }
  for (std::size_t i = 0; i < std::min(polled.size(), parked.size()); ++i) {
    pairs.push_back({polled[i], parked[i], compare(polled[i]->model, parked[i]->model)});
  }
  return pairs;
}

}  // namespace wicprof::analyzer
