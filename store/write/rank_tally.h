// What the ranks of an MPI job cost each other, for readers who do not wait for the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/events/mpi.h"
#include "protocol/time.h"

namespace wicprof::store {

/// At blocking collectives in which every process waits for the last one.
struct RankSum {
  std::string rank;                 ///< in MPI_COMM_WORLD, or RankTally::kOther
  std::uint64_t waited_ns = 0;      ///< in them, until the last one came
  std::uint64_t late_ns = 0;        ///< as the last one: what all others waited for it, in sum
  std::uint64_t late_arrivals = 0;  ///< how often it was the last one, and others waited
};

/// One thread. Sums only grow. Counts collectives whose processes all write to this recording.
class RankTally {
 public:
  /// Further ranks share the name kOther.
  static constexpr std::size_t kMaxRanks = 256;
  static constexpr const char* kOther = "other";
  /// No wait is shorter, as in the analysis of traces.
  static constexpr TimeNs kShortest = kMicrosecond;

  void add(std::uint32_t process, const MpiCommunicatorEvent& event);
  void add(std::uint32_t process, const MpiCallEvent& event);
  /// By rank, ascending; then kOther, if it has any.
  std::vector<RankSum> ranks() const;

 private:
  static constexpr std::size_t kMostKnown = 65'536;  // bounds the memory for a program that makes communicators forever
  static constexpr std::size_t kMostOpen = 4096;     // collectives that lack a process

  struct Member {
    std::int32_t rank = 0;  // in MPI_COMM_WORLD
    std::int32_t size = 0;
  };
  struct Entry {
    std::int32_t rank;
    TimeNs begin, end;
  };
  using Collective = std::pair<CommunicatorId, std::uint32_t>;

  void sum_up(const std::vector<Entry>& entries);
  RankSum& sum_of(std::int32_t rank);

  std::map<std::pair<CommunicatorId, std::uint32_t>, Member> members_;  // by communicator and process
  std::map<Collective, std::vector<Entry>> open_;
  std::deque<Collective> order_;  // of open_, the oldest first; may name some that are complete
  std::map<std::int32_t, RankSum> sums_;
  RankSum others_{kOther};
};

}  // namespace wicprof::store
