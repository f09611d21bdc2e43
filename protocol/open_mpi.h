// What the threads of an MPI program are in now, and how far its processes are in their communicators: entries of the
// session's open work (protocol/open_work.h). A trace has a call only when the call has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/events/mpi.h"
#include "protocol/mpi_operation.h"
#include "protocol/time.h"

namespace wicprof {

inline constexpr std::size_t kMaxOpenMpiCalls = 512;        ///< threads that call MPI
inline constexpr std::size_t kMaxOpenCommunicators = 2048;  ///< of all processes
inline constexpr std::size_t kMaxAwaitedRequests = 8;       ///< of one call

/// A request that a call waits for. Processes are named by their rank in MPI_COMM_WORLD.
struct OpenMpiRequest {
  CommunicatorId communicator = 0;
  TimeNs posted = 0;           ///< when the call that made the request began
  std::uint32_t sequence = 0;  ///< as MpiCallEvent has it; 0 = none, or not known
  std::int32_t peer = -1;      ///< -1 = none, or any process
  std::int32_t tag = -1;
  MpiOperation operation = MpiOperation::none;  ///< of the call that made it
  std::uint8_t reserved[3] = {};
};

/// The last call of MPI of one thread. Trivially copyable.
struct OpenMpiCall {
  TimeNs begin = 0;                 ///< 0: no call yet
  TimeNs end = 0;                   ///< 0: the thread is in the call
  CommunicatorId communicator = 0;  ///< 0 = none, or not known
  std::int64_t bytes = -1;          ///< of the call's own buffer; -1 = none, or not known
  std::uint32_t thread = 0;
  std::uint32_t sequence = 0;  ///< of a collective: its number on the communicator, from 1; 0 = none
  std::int32_t peer = -1;      ///< the other process of a message, or a collective's root; -1 = none, or any process
  std::int32_t tag = -1;
  std::uint32_t requests = 0;  ///< that the call waits for or looks at
  MpiOperation operation = MpiOperation::none;
  std::uint8_t reserved[3] = {};
  std::array<OpenMpiRequest, kMaxAwaitedRequests> awaited{};  ///< the first of them
};

/// One process in one communicator.
struct OpenCommunicator {
  CommunicatorId communicator = 0;
  std::int32_t rank = -1;  ///< in the communicator
  std::int32_t size = 0;   ///< processes; of an intercommunicator, of the other group
  std::int32_t world_rank = -1;
  std::uint32_t collectives = 0;  ///< that the process has left, or begun without blocking
  char name[32] = {};             ///< MPI's name, or the call that made it
};

}  // namespace wicprof
