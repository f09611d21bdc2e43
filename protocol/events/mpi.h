// What the processes of a job do together by MPI and by NCCL: their calls, the requests that calls complete, and the
// communicators of these.
#pragma once

#include "protocol/events/header.h"
#include "protocol/mpi_operation.h"

namespace wicprof {

/// The same in all its processes, unlike MPI's own handle; 0 = not known.
using CommunicatorId = std::uint64_t;

/// A process is named by its rank in MPI_COMM_WORLD; in a call of NCCL, by its rank in the communicator.
struct MpiCallEvent {
  static constexpr EventKind kKind{29};
  EventHeader header;
  CommunicatorId communicator;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int64_t bytes;  ///< of the call's own buffer, for each peer: the count times the datatype's size; -1 = none
  std::uint32_t thread;
  std::int32_t peer;  ///< the other process of a message, or a collective's root; -1 = none
  std::int32_t tag;   ///< of a message; -1 = none
  std::uint32_t
      sequence;  ///< of a collective: its number on the communicator (NCCL: among those of its operation); of a
                 ///< message: its number among those of one sender, receiver, tag and communicator; from 1; 0 = none
  MpiOperation operation;
  std::uint8_t reserved[7];
};

/// What a thread did between its calls of MPI, in sums over some of these times.
struct MpiGapEvent {
  static constexpr EventKind kKind{33};
  EventHeader header;
  std::int64_t begin_ns;      ///< of the first of these times
  std::int64_t end_ns;        ///< of the last one
  std::int64_t outside_ns;    ///< between calls, in sum
  std::int64_t cpu_ns;        ///< of outside_ns: on a CPU
  std::int64_t run_delay_ns;  ///< of outside_ns: ready to run without a CPU; -1 = not known
  std::uint32_t thread;
  std::uint32_t gaps;  ///< times between two calls
};

/// A request of a non-blocking call, or the receive of MPI_Sendrecv, with the call that completed it.
struct MpiRequestEvent {
  static constexpr EventKind kKind{30};
  EventHeader header;
  CommunicatorId communicator;
  std::int64_t posted_ns;  ///< when the call that made the request began
  std::int64_t begin_ns;   ///< of the completing call
  std::int64_t end_ns;
  std::int64_t bytes;
  std::uint32_t thread;  ///< of the completing call
  std::int32_t peer;
  std::int32_t tag;
  std::uint32_t sequence;
  MpiOperation operation;  ///< of the call that made the request
  MpiOperation completed_by;
  std::uint8_t reserved[6];
};

/// A process in a communicator.
struct MpiCommunicatorEvent {
  static constexpr EventKind kKind{31};
  EventHeader header;
  CommunicatorId communicator;
  TextId name;  ///< MPI's name, or the call that made it
  std::int32_t rank;
  std::int32_t size;
  std::int32_t world_rank;
};

}  // namespace wicprof
