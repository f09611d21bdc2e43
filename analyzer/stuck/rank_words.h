// The ranks of a job and their waits in words, which depend on what shows the ranks: sessions, traces or dumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/stuck/mpi_ranks.h"

namespace wicprof::analyzer {

using RankWaits = std::vector<const RankWait*>;

/// In order, each once.
std::vector<std::int32_t> ranks_of(const RankWaits& waits);
bool is_in_collective(const RankWait* wait);

struct SourceWords;

/// The view and the job must outlive the object.
class RankWords {
 public:
  /// Of one cause.
  static constexpr std::size_t kMostLines = 6;

  RankWords(const StuckView& view, const MpiJob& job);

  const StuckView& view() const { return view_; }
  const MpiJob& job() const { return job_; }
  /// "rank 3 of 4 (process 71)"
  std::string rank_name(std::int32_t rank) const;
  /// What a rank that does not wait in MPI or NCCL does now: "left MPI_Barrier 5.2 s ago and is outside of MPI since"
  std::string place_of(std::int32_t rank) const;
  /// Lines such as "ranks 0, 2 wait in MPI_Barrier number 3 of MPI_COMM_WORLD for 4 s", one per call.
  std::vector<std::string> lines_of(const RankWaits& waits) const;
  /// "no session here records"
  std::string_view not_seen() const;
  /// "has not enqueued ncclAllReduce number 6 of made"
  std::string not_come_to(const OpenMpiCall& collective) const;
  /// The end of a sentence which says that nobody knows for whom ranks wait.
  std::string_view all_have_come() const;

 private:
  std::string when(TimeNs at) const;
  std::string how_long(TimeNs since) const;
  std::string last_call(const SeenRank& seen) const;
  std::string place_in_dump(const SeenRank& seen) const;
  std::string from_where(const OpenMpiCall& call) const;

  const StuckView& view_;
  const MpiJob& job_;
  const SourceWords& words_;
};

}  // namespace wicprof::analyzer
