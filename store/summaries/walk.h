// Passes every row that a lane shows to the builder of lanes.
#pragma once

#include "store/format/plausible_times.h"
#include "store/summaries/lane_builder.h"
#include "store/summaries/row_source.h"
#include "store/summaries/wait_states.h"

namespace wicprof::store {

enum class Pass { count, sum };  ///< the first pass counts what begins where; the second one sums times

/// Rows with times outside `times` are on no lane. The first pass tells `states` of the waits.
void walk_rows(RowSource& source, const PlausibleTimes& times, Pass pass, WaitStates& states, LaneBuilder& builder);

}  // namespace wicprof::store
