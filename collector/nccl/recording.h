// What the process does in NCCL, as events on a ring of the session.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "collector/mpi/gaps.h"
#include "collector/program/per_thread.h"
#include "protocol/event_sink.h"
#include "protocol/events/mpi.h"
#include "protocol/open_work.h"
#include "protocol/recorder_watch.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// The operation that NCCL calls "AllReduce", ...; none: it is not recorded.
MpiOperation nccl_operation(const char* name) noexcept;
/// The size of NCCL's data type "ncclFloat32", ...; 0: not known.
std::int64_t nccl_datatype_bytes(const char* name) noexcept;

/// One rank in one communicator of NCCL. Any thread.
struct NcclCommunicator {
  CommunicatorId id = 0;
  int* mask = nullptr;  ///< of the NCCL that made the communicator: one for all its communicators
  std::mutex mutex{};
  std::unordered_map<std::uint64_t, std::uint32_t> messages{};  ///< so far, by peer and direction
  OpenNccl shown{};
  OpenEntry<OpenNccl>* entry = nullptr;  ///< where it is shown; nullptr: there was no room

  /// The number of the next message to the peer, or from the peer; from 1.
  std::uint32_t next_message(int peer, bool sends);
};

/// The process's collectives and messages by NCCL. Any thread; waits for nothing but the first here().
class NcclRecording {
 public:
  /// nullptr: the process has no session, or nothing is recorded any more. The first call begins the recording; calls
  /// of other threads wait for that, half a second at most.
  static NcclRecording* here() noexcept;

  void made_communicator(NcclCommunicator& made, std::string_view name, int ranks, int rank);
  void forget_communicator(NcclCommunicator& made) noexcept;

  /// A call of NCCL, or the outermost group of such calls, begins or ends on the calling thread.
  void enter(TimeNs at);
  void leave(TimeNs at) noexcept;
  /// NCCL has enqueued what the program asked for at `entered`. `peer`: a rank in the communicator; -1: none.
  void enqueued(MpiOperation operation, NcclCommunicator& of, std::uint64_t sequence, int peer, std::int64_t bytes,
                TimeNs entered, TimeNs at);
  /// The program captures calls of NCCL into a CUDA graph.
  void captured();

  /// Whether the recorder still runs. Looks now and then.
  bool goes_on(TimeNs now) noexcept;

 private:
  NcclRecording(SessionMap session, RingHeader* ring);
  static NcclRecording* begin() noexcept;

  bool capturing() const { return session_.control().capturing.load(std::memory_order_relaxed) != 0; }
  /// nullptr: the system has no room for more data of threads.
  MpiGaps* own_gaps() noexcept;

  const SessionMap session_;
  EventSink sink_;
  std::int32_t world_rank_ = -1;  // as the launcher numbers the process
  std::mutex watch_mutex_;
  RecorderWatch watch_;
  std::atomic<TimeNs> looked_{0};
  std::atomic<bool> gone_{false}, said_captured_{false};
  PerThread<MpiGaps> gaps_;
};

}  // namespace wicprof::collector
