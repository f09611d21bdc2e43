// How far the processes of a program are in their communicators of NCCL: entries of the session's open work
// (protocol/open_work.h). A call of NCCL returns before the work is done, so what a process has enqueued is all that
// its host shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/events/mpi.h"
#include "protocol/mpi_operation.h"
#include "protocol/time.h"

namespace wicprof {

inline constexpr std::size_t kMaxOpenNccl = 512;  ///< communicators, of all processes

/// A collective that a process has enqueued.
struct EnqueuedCollective {
  TimeNs at = 0;
  std::int64_t bytes = -1;
  std::int32_t root = -1;  ///< -1 = none
  MpiOperation operation = MpiOperation::none;
  std::uint8_t reserved[3] = {};
};

/// One process in one communicator.
struct OpenNccl {
  static constexpr std::size_t kKept = 16;

  CommunicatorId communicator = 0;
  std::int32_t rank = -1;  ///< in the communicator
  std::int32_t size = 0;
  std::int32_t world_rank = -1;
  std::uint32_t thread = 0;       ///< that enqueued last
  std::uint32_t collectives = 0;  ///< enqueued, of all operations
  std::uint32_t reserved = 0;
  char name[32] = {};
  std::array<EnqueuedCollective, kKept> last{};  ///< number n, from 1, is at (n - 1) % kKept

  void add(const EnqueuedCollective& enqueued) { last[collectives++ % kKept] = enqueued; }
  /// nullptr: not enqueued, or no longer kept.
  const EnqueuedCollective* number(std::uint32_t n) const {
    return n == 0 || n > collectives || n + kKept <= collectives ? nullptr : &last[(n - 1) % kKept];
  }
};

}  // namespace wicprof
