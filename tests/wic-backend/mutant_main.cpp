// Built against a shared_watch.h with a mistake in it (mutate.py): ends with 0 when exploration finds a schedule that
// shows the mistake, with 1 when it finds none.
#include <cstdio>

#include "watch_scenarios.h"

int main() {
  wic::scenarios::World world;
  for (const wic::scenarios::Scenario& scenario : wic::scenarios::all_scenarios()) {
    wic::simt::Bounds bounds;
    bounds.preemptions = scenario.preemptions;
    const wic::simt::Explored explored =
        wic::simt::explore(bounds, [&](wic::simt::ExploredRun& run) { return play(scenario, world, run); });
    std::printf("%s: %llu schedules: %s\n", scenario.name, static_cast<unsigned long long>(explored.schedules),
                explored.failure.empty() ? "nothing found" : explored.failure.c_str());
    if (!explored.failure.empty()) return 0;
  }
  return 1;
}
