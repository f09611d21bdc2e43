// When the ranks of an MPI program waited, and when others waited for them: a matrix rank by time.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/ranks/mpi_waits.h"

namespace wicprof::analyzer {

/// A rank's sums by column, in ns.
struct RankTimesRow {
  std::int32_t rank = 0;
  store::ProcessId process = 0;
  std::vector<TimeNs>
      waited;  ///< its waits for others, weighted: else at most a column's length per thread that calls MPI
  std::vector<TimeNs> waited_for;  ///< the waits of others for it, summed; none is passed on to whom it waited for
};

/// The time from the first call of MPI to the end of the last one, in columns of one length.
struct RankTimes {
  static constexpr std::int64_t kColumns = 100;

  TimeNs begin = 0;
  TimeNs column = 0;                ///< length; 0 where there are no calls
  std::vector<RankTimesRow> ranks;  ///< in order of rank; all lists have kColumns values
};

/// `mpi` is mpi_waits(model).
RankTimes rank_times(const TraceModel& model, const MpiWaits& mpi);

}  // namespace wicprof::analyzer
