// The job whose ranks several sessions record, each by a wic-prof of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "protocol/session.h"

namespace wicprof::cli {

/// Of the largest communicator that the sessions have in common.
struct JobRanks {
  std::set<std::int32_t> recorded;  ///< by these sessions
  std::int32_t size = 0;            ///< of the communicator
};

/// nullopt: the sessions have no communicator of NCCL and no MPI_COMM_WORLD in common, or one cannot be mapped.
std::optional<JobRanks> ranks_of_job(const std::vector<SessionInfo>& sessions);

}  // namespace wicprof::cli
