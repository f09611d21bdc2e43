// Decisions of the autopilot, for people.
#pragma once

#include <string>

#include "store/format/tables/decision.h"

namespace wicprof::analyzer {

/// "device waits", "host waits", "all waits".
std::string waits_of_side(WaitSide side);

/// "1.83 (1.71 to 1.95) over 12 blocks"; empty without an interval.
std::string decision_ratio(const store::DecisionRow& row);

/// "keeps parking of device waits: parking gains more than its error; time per unit polled / parked 1.83 (1.71 to 1.95)
/// over 12 blocks, 48.1 ms -> 26.3 ms, p99 50.2 ms -> 28.0 ms"
std::string decision_text(const store::DecisionRow& row);

}  // namespace wicprof::analyzer
