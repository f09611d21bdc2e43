// Built against a shared_watch.h with a mistake (mutate.py): exits with 0 if the exploration finds a schedule that
// shows the mistake, with 1 if it finds none.
#include <cstdio>

#include "watch_scenarios.h"

int main() {
  wic::scenarios::World world;
  // Few preemptions first: they show most mistakes at little cost.
  for (std::uint32_t preemptions = 0; preemptions <= 3; ++preemptions) {
    for (const wic::scenarios::Scenario& scenario : wic::scenarios::all_scenarios()) {
      if (scenario.preemptions < preemptions) continue;
      wic::simt::Bounds bounds;
      bounds.preemptions = preemptions;
      const wic::simt::Explored explored =
          wic::simt::explore(bounds, [&](wic::simt::ExploredRun& run) { return play(scenario, world, run); });
      if (explored.failure.empty()) continue;
      std::printf("%s, %u preemptions, schedule %llu: %s\n", scenario.name, preemptions,
                  static_cast<unsigned long long>(explored.schedules), explored.failure.c_str());
      return 0;
    }
  }
  std::printf("nothing found\n");
  return 1;
}
