// What a run knows of its autopilot (cli/record/auto_run.h) at one moment, for its metrics.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "protocol/events/decision.h"
#include "store/format/tables/decision.h"

namespace wicprof::cli {

struct AutopilotFacts {
  bool begun = false, running = false;
  std::map<std::pair<WaitSide, DecisionKind>, std::uint64_t> decisions;
  std::map<WaitSide, store::DecisionRow> measured;  ///< the last decision of each side that has an interval
};

}  // namespace wicprof::cli
