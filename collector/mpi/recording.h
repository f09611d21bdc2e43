// What the process does in MPI, as events on a ring of the session.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/mpi/gaps.h"
#include "collector/mpi/implementation.h"
#include "collector/program/per_thread.h"
#include "protocol/event_sink.h"
#include "protocol/events/mpi.h"
#include "protocol/open_work.h"
#include "protocol/session.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// A call's time.
struct MpiSpan {
  TimeNs begin, end;
};

/// The process's messages and collectives. Any thread. Calls of MPI from here are local: no other process has to match
/// them.
class MpiRecording {
 public:
  /// Begins with the program's first MPI_Init, which has just returned. Once per process.
  static void begin(MpiOperation operation, MpiSpan span) noexcept;
  /// nullptr: nothing is recorded.
  static MpiRecording* current() { return current_.load(std::memory_order_acquire); }
  /// For good.
  static void end() noexcept { current_.store(nullptr, std::memory_order_release); }
  /// Before MPI_Init: what identifies the job, from its process manager.
  static void note_job() noexcept;
  /// Before MPI_Init, too: shows the call, which may wait for other processes.
  static void enter_init(MpiOperation operation, TimeNs at) noexcept;

  const MpiImplementation& mpi() const { return mpi_; }

  // The calling thread is about to make a call, whose arguments may be bad; leave() follows.
  /// Another process in a message, or a collective's root: its rank in the communicator; below 0: none.
  void enter_message(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes, TimeNs at);
  void enter_collective(MpiOperation operation, MpiWord communicator, std::int64_t bytes, int root, TimeNs at);
  void enter_sendrecv(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes, int source,
                      int source_tag, TimeNs at);
  void enter(MpiOperation operation, TimeNs at) noexcept;
  /// A call that waits for requests or looks at them. Whether the sender or the tag of a receive shows only in its
  /// status.
  bool enter_wait(MpiOperation operation, const MpiWord* requests, std::size_t count, TimeNs at);
  void leave(TimeNs at) noexcept;
  /// What the calling thread did since its last call ends then.
  void gap_ends(TimeNs at);
  /// The calling thread has made its last call.
  void last_gap_ended();

  void call(MpiOperation operation, MpiSpan span);
  /// `root`: a rank in the communicator; below 0: none.
  void collective(MpiOperation operation, MpiWord communicator, std::int64_t bytes, int root, MpiSpan span);
  /// The same, and the request that it made.
  void begun_collective(MpiOperation operation, MpiWord communicator, std::int64_t bytes, int root, MpiWord request,
                        MpiSpan span);
  /// Another process in a message: its rank in the communicator.
  void message(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes, MpiSpan span);
  void begun_message(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes,
                     MpiWord request, MpiSpan span);
  /// The receive of `by`, a call that sends, too.
  void received(MpiOperation by, MpiWord communicator, int source, int tag, std::int64_t bytes, MpiSpan span);
  /// A call that has found this message, and leaves it to a receive.
  void found_message(MpiOperation operation, MpiWord communicator, MpiSource message, MpiSpan span);

  /// A request that messages are begun with again and again: an operation that begins a message.
  void made_persistent(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes,
                       MpiWord request);
  /// The call has begun the messages of these requests.
  void started(const MpiWord* requests, std::size_t count, MpiSpan span);

  /// `source`: as the status says; nullptr: the request does not need it. `cancelled`: it has brought no message.
  void completed(MpiOperation by, MpiWord request, const MpiSource* source, bool cancelled, MpiSpan span);
  /// The program asks MPI to cancel the request. Only its status tells whether that came about.
  void cancels(MpiWord request);
  /// The program has given the request up.
  void forget_request(MpiWord request);
  /// A call that has failed has completed the request, too.
  void failed(MpiWord request);

  /// A call that all processes of `of` make has made `made`, or no communicator for this process.
  void made_communicator(MpiOperation operation, MpiWord of, MpiWord made, MpiSpan span);
  /// The same of a window, whose collectives count as those of a communicator. MPI has no handle of both kinds.
  void made_window(MpiWord of, MpiWord made, MpiSpan span);
  void forget_communicator(MpiWord communicator);

 private:
  struct Communicator {
    OpenCommunicator shown;
    OpenEntry<OpenCommunicator>* entry = nullptr;  // where it is shown; nullptr: there was no room
    bool inter = false;
    std::vector<int> world_ranks;  // of those whom messages can name

    CommunicatorId id() const { return shown.communicator; }

    /// The rank in MPI_COMM_WORLD of a process; -1 = none.
    std::int32_t world_rank(int rank) const {
      return rank >= 0 && static_cast<std::size_t>(rank) < world_ranks.size()
                 ? world_ranks[static_cast<std::size_t>(rank)]
                 : -1;
    }
  };
  struct OpenRequest {
    MpiOperation operation = MpiOperation::none;
    CommunicatorId communicator = 0;
    MpiWord handle = 0;  // of the communicator
    std::uint32_t sequence = 0;
    std::int32_t peer = -1, tag = -1;
    bool any = false;        // peer or tag follow from the status
    bool cancelled = false;  // perhaps: its status tells
    std::int64_t bytes = -1;
    TimeNs posted = 0;
  };
  struct Stream {  // messages of one order
    CommunicatorId communicator;
    std::int32_t peer, tag;
    bool sends;
    bool operator==(const Stream&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Stream& stream) const;
  };

  MpiRecording(SessionMap session, RingHeader* ring, MpiImplementation mpi);

  /// nullptr: the system has no room for more data of threads. Then only calls are recorded.
  MpiGaps* own_gaps() noexcept;

  // With the sink's lock held, which protects all below.
  using Sink = EventSink::Locked;
  Communicator& communicator(Sink& sink, MpiWord handle);
  /// `like`: a communicator of the same processes.
  Communicator& declare(Sink& sink, MpiWord handle, CommunicatorId id, std::string_view name, MpiWord like);
  void forget(MpiWord communicator);
  /// Of a communicator that is not known, nothing but the peer's absence.
  OpenMpiCall entered(MpiOperation operation, MpiWord communicator, int peer, std::int64_t bytes, TimeNs at) const;
  std::uint32_t next_of(Sink& sink, const Stream& stream);
  MpiCallEvent collective_event(Sink& sink, MpiOperation operation, MpiWord communicator, std::int64_t bytes, int root,
                                MpiSpan span);
  MpiCallEvent message_event(Sink& sink, MpiOperation operation, MpiWord communicator, int peer, int tag,
                             std::int64_t bytes, MpiSpan span);
  void begin_message(Sink& sink, const MpiCallEvent& event, MpiWord communicator, bool any, MpiWord request);
  bool is_any(MpiOperation operation, int peer, int tag) const;
  void open(MpiWord request, const OpenRequest& made);
  std::optional<OpenRequest> take(MpiWord request);
  void give_back_number(const OpenRequest& cancelled);
  void write(Sink& sink, const OpenRequest& request, MpiOperation by, MpiSpan span);

  static std::atomic<MpiRecording*> current_;

  const SessionMap session_;
  EventSink sink_;
  const MpiImplementation mpi_;
  std::unordered_map<MpiWord, Communicator> communicators_;
  std::unordered_map<std::uint64_t, std::uint32_t> unseen_;  // communicators of one group whose making was not seen
  std::unordered_map<MpiWord, OpenRequest> requests_;
  std::unordered_map<MpiWord, std::deque<OpenRequest>> more_;  // MPICH has one handle for all sends that are complete
  struct Persistent {
    MpiOperation operation;
    MpiWord communicator;
    int peer, tag;
    std::int64_t bytes;
  };
  std::unordered_map<MpiWord, Persistent> persistent_;
  std::unordered_map<Stream, std::uint32_t, Hash> messages_;
  bool said_full_ = false;
  PerThread<MpiGaps> gaps_;
};

}  // namespace wicprof::collector
