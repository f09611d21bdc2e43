// What the devices of NCCL's ranks wait for now: collectives that not all ranks of a communicator have enqueued, or
// that they have enqueued differently.
#pragma once

#include <vector>

#include "analyzer/stuck/mpi_ranks.h"

namespace wicprof::analyzer {

/// A job is the processes that communicators join. Without jobs that have ended; ranks that no session here records are
/// left out. The view must outlive the jobs.
std::vector<MpiJob> nccl_jobs(const StuckView& view);

}  // namespace wicprof::analyzer
