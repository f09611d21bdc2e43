// What the processes of MPI jobs wait for now: each call that has lasted long, with the ranks that have to come before
// it can end.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/stuck/stuck.h"

namespace wicprof::analyzer {

/// A process of a job.
struct SeenRank {
  std::uint32_t process = 0;
  bool ended = false;
  const OpenMpiCall* last = nullptr;    ///< its latest call, perhaps not ended; nullptr: not known
  const OpenMpiCall* behind = nullptr;  ///< of a dump: what others have completed, and its device has not

  bool has_left_mpi() const { return last != nullptr && last->operation == MpiOperation::finalize && last->end != 0; }
};

/// A call that has lasted long, or keeps asking for requests that have.
struct RankWait {
  std::int32_t rank = 0;
  const OpenMpiCall* call = nullptr;
  TimeNs since = 0;
  std::vector<std::int32_t> needs;  ///< ranks in MPI_COMM_WORLD, in order
  bool any = false;                 ///< one of them is enough
};

/// The processes of one MPI_COMM_WORLD, or those that communicators of NCCL join.
struct MpiJob {
  std::string_view library = "MPI";
  std::int32_t size = 0;
  std::map<std::int32_t, SeenRank> ranks;               ///< those that have come, by rank
  std::vector<RankWait> waits;                          ///< in order of the ranks
  std::map<CommunicatorId, std::string> communicators;  ///< their names
  /// Of NCCL: what the ranks' devices wait in, and what the ranks have enqueued last; that has an end.
  std::list<OpenMpiCall> made;
  std::map<const OpenMpiCall*, const DumpedCall*> dumped;  ///< what calls were made of, where a dump has them

  bool is_nccl() const { return library != "MPI"; }
  const RankWait* wait_of(std::int32_t rank) const;
};

/// Whether the process has ended; false in doubt.
bool has_ended(const StuckView& view, std::uint32_t process);
/// Names that several communicators have get a part of the communicator's id.
void tell_apart(std::map<CommunicatorId, std::string>& names);

/// Without those that have ended. The view must outlive the jobs.
std::vector<MpiJob> mpi_jobs(const StuckView& view);

}  // namespace wicprof::analyzer
