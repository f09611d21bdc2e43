// One clock for the traces of a job whose ranks ran on several machines, from the order in which MPI's calls must
// happen: nobody leaves a collective before the last has entered it, and no receive ends before its send began.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ranks/clock_shift.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

struct RankClocks {
  std::vector<std::uint32_t> clock;  ///< by trace; traces of one machine have one
  std::vector<ClockShift> shifts;    ///< by clock; the first clock is left as it is
};

RankClocks rank_clocks(const std::vector<TraceModel>& traces);

}  // namespace wicprof::analyzer
