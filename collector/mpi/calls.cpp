// The calls of MPI, as a program finds them that has this library preloaded: each calls the one that the program would
// have found, and records it. Built without mpi.h, since handles are passed on as they are. Fortran's bindings, and
// those of Fortran 2008, call the functions of C: MPICH's those that begin with MPI_, Open MPI's those with PMPI_. So
// each call has both names here, and one within another is not recorded.
#include <array>
#include <vector>

#include "collector/mpi/implementation.h"
#include "collector/mpi/own_call.h"
#include "collector/mpi/recording.h"

namespace {

using namespace wicprof;
using namespace wicprof::collector;
using Word = MpiWord;
using Op = MpiOperation;

constexpr int kNoMpi = 16;  // MPI_ERR_OTHER; the program could not have started then

thread_local int calls_within = 0;

/// While a call of MPI runs in this thread, also one that throws.
class Within {
 public:
  Within() { ++calls_within; }
  ~Within() { --calls_within; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
};

/// Makes the call, which began then and is shown; then `note(recording, span)` where it succeeded.
template <class Call, class Note>
int recorded_since(TimeNs begin, MpiRecording& recording, Call&& call, Note&& note) {
  const Within within;
  try {
    recording.gap_ends(begin);
  } catch (...) {  // out of memory: as below
    MpiRecording::end();
  }
  const int result = call();
  const TimeNs end = now_ns();
  recording.leave(end);
  if (result != 0) return result;
  try {
    note(recording, MpiSpan{begin, end});
  } catch (...) {  // out of memory: the program continues unrecorded
    MpiRecording::end();
  }
  return result;
}

/// Tells `enter(recording, time)`, makes the call; then `note(recording, span)` where it succeeded.
template <class Enter, class Call, class Note>
int recorded(Enter&& enter, Call&& call, Note&& note) {
  MpiRecording* const recording = MpiRecording::current();
  if (recording == nullptr || calls_within != 0) return call();
  const Within within;
  const TimeNs begin = now_ns();
  enter(*recording, begin);
  return recorded_since(begin, *recording, call, note);
}

/// Of a call that has no other process to wait for.
auto entering(Op operation) {
  return [operation](MpiRecording& to, TimeNs at) { to.enter(operation, at); };
}
constexpr auto entered_unseen = [](MpiRecording&, TimeNs) {};

/// Where a call that may not want a status writes one: ours, in place of none, if the recording needs it.
class Statuses {
 public:
  /// Throws where there is no memory.
  Statuses(const MpiImplementation& mpi, Word wanted, std::size_t count, bool needed) : used_(wanted) {
    if (!needed || wanted != mpi.status_ignore) return;
    if (count * mpi.status_bytes > sizeof few_) many_.resize(count * mpi.status_bytes / sizeof(Word) + 1);
    used_ = reinterpret_cast<Word>(many_.empty() ? few_.data() : many_.data());
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  Word used() const { return used_; }

 private:
  std::array<Word, 8> few_{};
  std::vector<Word> many_;
  Word used_;
};

/// The requests of a call that may complete them, which overwrites their handles.
class Requests {
 public:
  Requests(MpiRecording& recording, Op by, int count, Word requests) : recording_(recording) {
    const std::size_t size = count < 0 ? 0 : static_cast<std::size_t>(count);
    if (size > few_.size()) many_.resize(size);
    handles_ = many_.empty() ? few_.data() : many_.data();
    for (std::size_t i = 0; i < size; ++i) handles_[i] = recording.mpi().handle_at(requests, i);
    needs_status_ = recording.enter_wait(by, handles_, size, begin_);
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  /// When the call began.
  TimeNs begin() const { return begin_; }
  bool needs_status() const { return needs_status_; }
  /// The request at `index`, whose status is the one at `status`.
  void completed(Op by, int index, Word statuses, int status, MpiSpan span) const {
    const MpiImplementation& mpi = recording_.mpi();
    MpiSource source{};
    bool cancelled = false;
    const bool known = needs_status_ && statuses != mpi.status_ignore;
    if (known) {
      source = mpi.source_in(statuses, static_cast<std::size_t>(status));
      cancelled = mpi.was_cancelled(statuses, static_cast<std::size_t>(status));
    }
    recording_.completed(by, handles_[index], known ? &source : nullptr, cancelled, span);
  }
  /// The call has failed: MPI has overwritten the handles of those that it has completed.
  void failed(int count, Word requests) const {
    for (int i = 0; i < count; ++i) {
      const Word handle = handles_[i];
      if (handle != recording_.mpi().handle_at(requests, static_cast<std::size_t>(i))) recording_.failed(handle);
    }
  }

 private:
  MpiRecording& recording_;
  const TimeNs begin_ = now_ns();
  std::array<Word, 16> few_;
  std::vector<Word> many_;
  Word* handles_;
  bool needs_status_ = false;
};

/// A call that waits for requests, or looks at them. `call(statuses)`; `note(requests, statuses, span)` tells whether
/// it completed any: a look at what is not complete is not recorded.
template <class Call, class Note>
int completing(Op operation, int count, Word requests, Word statuses, std::size_t status_count, Call&& call,
               Note&& note) {
  MpiRecording* const recording = MpiRecording::current();
  if (recording == nullptr || calls_within != 0) return call(statuses);
  std::optional<Requests> all;
  std::optional<Statuses> seen;
  try {
    all.emplace(*recording, operation, count, requests);
    seen.emplace(recording->mpi(), statuses, status_count, all->needs_status());
  } catch (...) {
    MpiRecording::end();
    return call(statuses);
  }
  const int result = recorded_since(
      all->begin(), *recording, [&] { return call(seen->used()); },
      [&](MpiRecording& to, MpiSpan span) {
        if (note(*all, seen->used(), span)) to.call(operation, span);
      });
  if (result != 0) all->failed(count, requests);
  return result;
}

/// A receive whose status may tell where the message came from.
template <class Enter, class Call, class Note>
int receiving(int source, int tag, Word status, Enter&& enter, Call&& call, Note&& note) {
  MpiRecording* const recording = MpiRecording::current();
  if (recording == nullptr || calls_within != 0) return call(status);
  const MpiImplementation& mpi = recording->mpi();
  const bool any = source == mpi.any_source || tag == MpiImplementation::kAnyTag;
  const Statuses seen(mpi, status, 1, any);
  return recorded(
      enter, [&] { return call(seen.used()); },
      [&](MpiRecording& to, MpiSpan span) {
        note(to, any ? mpi.source_in(seen.used()) : MpiSource{source, tag}, span);
      });
}

/// What is known of datatypes before a call.
struct OwnTypes {
  const MpiImplementation& mpi;
  std::int64_t bytes(int count, Word type) const { return mpi.bytes_of_own_type(count, type); }
};

/// Of a collective in which the root's arguments count, and others elsewhere; -1 between two groups.
template <class AtRoot, class Elsewhere>
std::int64_t rooted_bytes(const MpiImplementation& mpi, Word of, int root, AtRoot&& at_root, Elsewhere&& elsewhere) {
  if (mpi.is_intercommunicator(of)) return -1;
  return mpi.rank(of) == root ? at_root() : elsewhere();
}
/// Before a call, MPI must not be asked which process this is.
template <class AtRoot, class Elsewhere>
std::int64_t rooted_bytes(const OwnTypes&, Word, int, AtRoot&&, Elsewhere&&) {
  return -1;
}

/// Of a collective in which the processes' parts differ: this process's own, by the list of their counts.
std::int64_t own_part(const MpiImplementation& mpi, Word of, Word counts, Word type) {
  if (mpi.is_intercommunicator(of)) return -1;
  return mpi.bytes(reinterpret_cast<const int*>(counts)[mpi.rank(of)], type);
}
std::int64_t own_part(const OwnTypes&, Word, Word, Word) { return -1; }

}  // namespace

// Defines MPI_NAME and PMPI_NAME. `body` sees the parameters, and `real`: the function that the program would have
// found.
#define WICPROF_ENTRY(symbol, parameters, ...)                                                                         \
  extern "C" __attribute__((visibility("default"))) int symbol parameters {                                            \
    using Function = int(*) parameters;                                                                                \
    static const auto real =                                                                                           \
        reinterpret_cast<Function>(mpi_function(#symbol, __builtin_extract_return_addr(__builtin_return_address(0)))); \
    if (real == nullptr) return kNoMpi;                                                                                \
    __VA_ARGS__                                                                                                        \
  }
#define WICPROF_MPI(name, parameters, ...)           \
  WICPROF_ENTRY(MPI_##name, parameters, __VA_ARGS__) \
  WICPROF_ENTRY(PMPI_##name, parameters, __VA_ARGS__)
// Tells `enter`, makes the call `arguments`; then what is recorded where it succeeded: `note`, which sees `to` and
// `span`.
#define WICPROF_AFTER(enter, arguments, ...) \
  return recorded(                           \
      enter, [&] { return real arguments; }, [&](MpiRecording& to, [[maybe_unused]] MpiSpan span) { __VA_ARGS__; });

WICPROF_MPI(Init, (Word argc, Word argv), {
  MpiRecording::note_job();
  const Within within;
  const TimeNs begin = now_ns();
  MpiRecording::enter_init(Op::init, begin);
  const int result = real(argc, argv);
  leave_mpi_call(now_ns());
  if (result == 0) MpiRecording::begin(Op::init, {begin, now_ns()});
  return result;
})
WICPROF_MPI(Init_thread, (Word argc, Word argv, int required, Word provided), {
  MpiRecording::note_job();
  const Within within;
  const TimeNs begin = now_ns();
  MpiRecording::enter_init(Op::init_thread, begin);
  const int result = real(argc, argv, required, provided);
  leave_mpi_call(now_ns());
  if (result == 0) MpiRecording::begin(Op::init_thread, {begin, now_ns()});
  return result;
})
WICPROF_MPI(Finalize, (), {WICPROF_AFTER(entering(Op::finalize), (), {
              to.call(Op::finalize, span);
              to.last_gap_ended();
              MpiRecording::end();
            })})

// Messages.
#define WICPROF_TO_MESSAGE(operation, peer)                                                                   \
  ([&](MpiRecording& to, TimeNs at) {                                                                         \
    const MpiImplementation& mpi = to.mpi();                                                                  \
    to.enter_message(operation, mpi.handle(communicator), peer, tag, mpi.bytes_of_own_type(count, type), at); \
  })
// `count`: int, or of MPI 4's functions for large counts a word.
#define WICPROF_SEND_OF(name, operation, Count)                                                                     \
  WICPROF_MPI(name, (Word buffer, Count count, Word type, int peer, int tag, Word communicator),                    \
              {WICPROF_AFTER(WICPROF_TO_MESSAGE(operation, peer), (buffer, count, type, peer, tag, communicator), { \
                to.message(operation, to.mpi().handle(communicator), peer, tag, to.mpi().bytes(count, type), span); \
              })})
#define WICPROF_SEND(name, operation)    \
  WICPROF_SEND_OF(name, operation, int); \
  WICPROF_SEND_OF(name##_c, operation, std::int64_t)
WICPROF_SEND(Send, Op::send)
WICPROF_SEND(Ssend, Op::ssend)
WICPROF_SEND(Bsend, Op::bsend)
WICPROF_SEND(Rsend, Op::rsend)
#define WICPROF_RECV(name, Count)                                                                                 \
  WICPROF_MPI(name, (Word buffer, Count count, Word type, int source, int tag, Word communicator, Word status), { \
    return receiving(                                                                                             \
        source, tag, status, WICPROF_TO_MESSAGE(Op::recv, source),                                                \
        [&](Word seen) { return real(buffer, count, type, source, tag, communicator, seen); },                    \
        [&](MpiRecording& to, MpiSource from, MpiSpan span) {                                                     \
          to.message(Op::recv, to.mpi().handle(communicator), from.source, from.tag, to.mpi().bytes(count, type), \
                     span);                                                                                       \
        });                                                                                                       \
  })
WICPROF_RECV(Recv, int)
WICPROF_RECV(Recv_c, std::int64_t)
#define WICPROF_SENDRECV(name, Count)                                                                               \
  WICPROF_MPI(name,                                                                                                 \
              (Word sent, Count sent_count, Word sent_type, int peer, int tag, Word buffer, Count count, Word type, \
               int source, int source_tag, Word communicator, Word status),                                         \
              {                                                                                                     \
                return receiving(                                                                                   \
                    source, source_tag, status,                                                                     \
                    [&](MpiRecording& to, TimeNs at) {                                                              \
                      to.enter_sendrecv(Op::sendrecv, to.mpi().handle(communicator), peer, tag,                     \
                                        to.mpi().bytes_of_own_type(sent_count, sent_type), source, source_tag, at); \
                    },                                                                                              \
                    [&](Word seen) {                                                                                \
                      return real(sent, sent_count, sent_type, peer, tag, buffer, count, type, source, source_tag,  \
                                  communicator, seen);                                                              \
                    },                                                                                              \
                    [&](MpiRecording& to, MpiSource from, MpiSpan span) {                                           \
                      const Word of = to.mpi().handle(communicator);                                                \
                      to.message(Op::sendrecv, of, peer, tag, to.mpi().bytes(sent_count, sent_type), span);         \
                      to.received(Op::sendrecv, of, from.source, from.tag, to.mpi().bytes(count, type), span);      \
                    });                                                                                             \
              })
WICPROF_SENDRECV(Sendrecv, int)
WICPROF_SENDRECV(Sendrecv_c, std::int64_t)
#define WICPROF_REPLACE(name, Count)                                                                                 \
  WICPROF_MPI(                                                                                                       \
      name,                                                                                                          \
      (Word buffer, Count count, Word type, int peer, int tag, int source, int source_tag, Word communicator,        \
       Word status),                                                                                                 \
      {                                                                                                              \
        return receiving(                                                                                            \
            source, source_tag, status,                                                                              \
            [&](MpiRecording& to, TimeNs at) {                                                                       \
              to.enter_sendrecv(Op::sendrecv_replace, to.mpi().handle(communicator), peer, tag,                      \
                                to.mpi().bytes_of_own_type(count, type), source, source_tag, at);                    \
            },                                                                                                       \
            [&](Word seen) { return real(buffer, count, type, peer, tag, source, source_tag, communicator, seen); }, \
            [&](MpiRecording& to, MpiSource from, MpiSpan span) {                                                    \
              const Word of = to.mpi().handle(communicator);                                                         \
              const std::int64_t bytes = to.mpi().bytes(count, type);                                                \
              to.message(Op::sendrecv_replace, of, peer, tag, bytes, span);                                          \
              to.received(Op::sendrecv_replace, of, from.source, from.tag, bytes, span);                             \
            });                                                                                                      \
      })
WICPROF_REPLACE(Sendrecv_replace, int)
WICPROF_REPLACE(Sendrecv_replace_c, std::int64_t)
#define WICPROF_BEGIN_OF(name, operation, Count)                                                                   \
  WICPROF_MPI(name, (Word buffer, Count count, Word type, int peer, int tag, Word communicator, Word request),     \
              {WICPROF_AFTER(entering(operation), (buffer, count, type, peer, tag, communicator, request), {       \
                to.begun_message(operation, to.mpi().handle(communicator), peer, tag, to.mpi().bytes(count, type), \
                                 to.mpi().handle_at(request), span);                                               \
              })})
#define WICPROF_BEGIN(name, operation)    \
  WICPROF_BEGIN_OF(name, operation, int); \
  WICPROF_BEGIN_OF(name##_c, operation, std::int64_t)
WICPROF_BEGIN(Isend, Op::isend)
WICPROF_BEGIN(Issend, Op::issend)
WICPROF_BEGIN(Ibsend, Op::ibsend)
WICPROF_BEGIN(Irsend, Op::irsend)
WICPROF_BEGIN(Irecv, Op::irecv)
WICPROF_MPI(Request_free, (Word request), {
  MpiRecording* const recording = MpiRecording::current();
  const Word freed = recording == nullptr ? 0 : recording->mpi().handle_at(request);
  return recorded(
      entered_unseen, [&] { return real(request); }, [&](MpiRecording& to, MpiSpan) { to.forget_request(freed); });
})
WICPROF_MPI(Cancel, (Word request), {WICPROF_AFTER(entered_unseen, (request), to.cancels(to.mpi().handle_at(request)))})

// Messages that are there before they are received.
WICPROF_MPI(Probe, (int source, int tag, Word communicator, Word status), {
  return receiving(
      source, tag, status,
      [&](MpiRecording& to, TimeNs at) {
        to.enter_message(Op::probe, to.mpi().handle(communicator), source, tag, -1, at);
      },
      [&](Word seen) { return real(source, tag, communicator, seen); },
      [&](MpiRecording& to, MpiSource from, MpiSpan span) {
        to.found_message(Op::probe, to.mpi().handle(communicator), from, span);
      });
})
WICPROF_MPI(Mprobe, (int source, int tag, Word communicator, Word message, Word status), {
  return receiving(
      source, tag, status,
      [&](MpiRecording& to, TimeNs at) {
        to.enter_message(Op::mprobe, to.mpi().handle(communicator), source, tag, -1, at);
      },
      [&](Word seen) { return real(source, tag, communicator, message, seen); },
      [&](MpiRecording& to, MpiSource from, MpiSpan span) {
        to.message(Op::mprobe, to.mpi().handle(communicator), from.source, from.tag, -1, span);
      });
})
WICPROF_MPI(Improbe, (int source, int tag, Word communicator, int* flag, Word message, Word status), {
  return receiving(
      source, tag, status, entered_unseen,
      [&](Word seen) { return real(source, tag, communicator, flag, message, seen); },
      [&](MpiRecording& to, MpiSource from, MpiSpan span) {
        if (*flag != 0) to.message(Op::mprobe, to.mpi().handle(communicator), from.source, from.tag, -1, span);
      });
})

// Persistent requests.
#define WICPROF_INIT_OF(name, operation, Count)                                                                      \
  WICPROF_MPI(name, (Word buffer, Count count, Word type, int peer, int tag, Word communicator, Word request),       \
              {WICPROF_AFTER(entered_unseen, (buffer, count, type, peer, tag, communicator, request), {              \
                to.made_persistent(operation, to.mpi().handle(communicator), peer, tag, to.mpi().bytes(count, type), \
                                   to.mpi().handle_at(request));                                                     \
              })})
#define WICPROF_INIT(name, operation)    \
  WICPROF_INIT_OF(name, operation, int); \
  WICPROF_INIT_OF(name##_c, operation, std::int64_t)
WICPROF_INIT(Send_init, Op::start_send)
WICPROF_INIT(Ssend_init, Op::start_send)
WICPROF_INIT(Bsend_init, Op::start_send)
WICPROF_INIT(Rsend_init, Op::start_send)
WICPROF_INIT(Recv_init, Op::start_recv)
WICPROF_MPI(Start, (Word request), {WICPROF_AFTER(entering(Op::other), (request), {
              const Word started = to.mpi().handle_at(request);
              to.started(&started, 1, span);
            })})
WICPROF_MPI(Startall, (int count, Word requests), {WICPROF_AFTER(entering(Op::other), (count, requests), {
              std::vector<Word> started;
              for (int i = 0; i < count; ++i)
                started.push_back(to.mpi().handle_at(requests, static_cast<std::size_t>(i)));
              to.started(started.data(), started.size(), span);
            })})

// Waits.
WICPROF_MPI(Wait, (Word request, Word status), {
  return completing(
      Op::wait, 1, request, status, 1, [&](Word seen) { return real(request, seen); },
      [&](const Requests& all, Word seen, MpiSpan span) {
        all.completed(Op::wait, 0, seen, 0, span);
        return true;
      });
})
WICPROF_MPI(Waitall, (int count, Word requests, Word statuses), {
  return completing(
      Op::waitall, count, requests, statuses, static_cast<std::size_t>(count),
      [&](Word seen) { return real(count, requests, seen); },
      [&](const Requests& all, Word seen, MpiSpan span) {
        for (int i = 0; i < count; ++i) all.completed(Op::waitall, i, seen, i, span);
        return true;
      });
})
WICPROF_MPI(Waitany, (int count, Word requests, int* index, Word status), {
  return completing(
      Op::waitany, count, requests, status, 1, [&](Word seen) { return real(count, requests, index, seen); },
      [&](const Requests& all, Word seen, MpiSpan span) {
        if (*index >= 0) all.completed(Op::waitany, *index, seen, 0, span);
        return true;
      });
})
#define WICPROF_SOME(name, operation, always)                                                  \
  WICPROF_MPI(name, (int count, Word requests, int* done, int* indices, Word statuses), {      \
    return completing(                                                                         \
        operation, count, requests, statuses, static_cast<std::size_t>(count),                 \
        [&](Word seen) { return real(count, requests, done, indices, seen); },                 \
        [&](const Requests& all, Word seen, MpiSpan span) {                                    \
          for (int i = 0; i < *done; ++i) all.completed(operation, indices[i], seen, i, span); \
          return always || *done > 0;                                                          \
        });                                                                                    \
  })
WICPROF_SOME(Waitsome, Op::waitsome, true)
WICPROF_SOME(Testsome, Op::testsome, false)
WICPROF_MPI(Test, (Word request, int* flag, Word status), {
  return completing(
      Op::test, 1, request, status, 1, [&](Word seen) { return real(request, flag, seen); },
      [&](const Requests& all, Word seen, MpiSpan span) {
        if (*flag != 0) all.completed(Op::test, 0, seen, 0, span);
        return *flag != 0;
      });
})
WICPROF_MPI(Testall, (int count, Word requests, int* flag, Word statuses), {
  return completing(
      Op::testall, count, requests, statuses, static_cast<std::size_t>(count),
      [&](Word seen) { return real(count, requests, flag, seen); },
      [&](const Requests& all, Word seen, MpiSpan span) {
        for (int i = 0; *flag != 0 && i < count; ++i) all.completed(Op::testall, i, seen, i, span);
        return *flag != 0;
      });
})
WICPROF_MPI(Testany, (int count, Word requests, int* index, int* flag, Word status), {
  return completing(
      Op::testany, count, requests, status, 1, [&](Word seen) { return real(count, requests, index, flag, seen); },
      [&](const Requests& all, Word seen, MpiSpan span) {
        const bool any = *flag != 0 && *index >= 0;
        if (any) all.completed(Op::testany, *index, seen, 0, span);
        return any;
      });
})

// Collectives. Where a process may pass MPI_IN_PLACE, the bytes are those of the arguments that count anyway.
// `bytes_of` sees `mpi` and `of`.
#define WICPROF_COLLECTIVE(arguments, operation, bytes_of, root)  \
  return recorded(                                                \
      [&](MpiRecording& to, TimeNs at) {                          \
        const Word of = to.mpi().handle(communicator);            \
        [[maybe_unused]] const OwnTypes mpi{to.mpi()};            \
        to.enter_collective(operation, of, bytes_of, root, at);   \
      },                                                          \
      [&] { return real arguments; },                             \
      [&](MpiRecording& to, MpiSpan span) {                       \
        [[maybe_unused]] const MpiImplementation& mpi = to.mpi(); \
        const Word of = mpi.handle(communicator);                 \
        to.collective(operation, of, bytes_of, root, span);       \
      });
WICPROF_MPI(Barrier, (Word communicator), {WICPROF_COLLECTIVE((communicator), Op::barrier, -1, -1)})
WICPROF_MPI(Bcast, (Word buffer, int count, Word type, int root, Word communicator),
            {WICPROF_COLLECTIVE((buffer, count, type, root, communicator), Op::bcast, mpi.bytes(count, type), root)})
WICPROF_MPI(Reduce, (Word sent, Word buffer, int count, Word type, Word reduction, int root, Word communicator),
            {WICPROF_COLLECTIVE((sent, buffer, count, type, reduction, root, communicator), Op::reduce,
                                mpi.bytes(count, type), root)})
#define WICPROF_REDUCE(name, operation)                                                                \
  WICPROF_MPI(name, (Word sent, Word buffer, int count, Word type, Word reduction, Word communicator), \
              {WICPROF_COLLECTIVE((sent, buffer, count, type, reduction, communicator), operation,     \
                                  mpi.bytes(count, type), -1)})
WICPROF_REDUCE(Allreduce, Op::allreduce)
WICPROF_REDUCE(Scan, Op::scan)
WICPROF_REDUCE(Exscan, Op::exscan)
WICPROF_REDUCE(Reduce_scatter_block, Op::reduce_scatter_block)
WICPROF_MPI(Reduce_scatter, (Word sent, Word buffer, Word counts, Word type, Word reduction, Word communicator),
            {WICPROF_COLLECTIVE((sent, buffer, counts, type, reduction, communicator), Op::reduce_scatter, -1, -1)})
#define WICPROF_ALL(name, operation)                                                                                   \
  WICPROF_MPI(name, (Word sent, int sent_count, Word sent_type, Word buffer, int count, Word type, Word communicator), \
              {WICPROF_COLLECTIVE((sent, sent_count, sent_type, buffer, count, type, communicator), operation,         \
                                  mpi.bytes(count, type), -1)})
WICPROF_ALL(Allgather, Op::allgather)
WICPROF_ALL(Alltoall, Op::alltoall)
WICPROF_MPI(Alltoallw,
            (Word sent, Word sent_counts, Word sent_places, Word sent_types, Word buffer, Word counts, Word places,
             Word types, Word communicator),
            {WICPROF_COLLECTIVE((sent, sent_counts, sent_places, sent_types, buffer, counts, places, types,
                                 communicator),
                                Op::alltoallw, -1, -1)})
WICPROF_MPI(Allgatherv,
            (Word sent, int sent_count, Word sent_type, Word buffer, Word counts, Word places, Word type,
             Word communicator),
            {WICPROF_COLLECTIVE((sent, sent_count, sent_type, buffer, counts, places, type, communicator),
                                Op::allgatherv, own_part(mpi, of, counts, type), -1)})
WICPROF_MPI(Alltoallv,
            (Word sent, Word sent_counts, Word sent_places, Word sent_type, Word buffer, Word counts, Word places,
             Word type, Word communicator),
            {WICPROF_COLLECTIVE((sent, sent_counts, sent_places, sent_type, buffer, counts, places, type, communicator),
                                Op::alltoallv, -1, -1)})
// At the root, what it receives from each process; elsewhere what the process sends. MPI_Scatter the other way round.
#define WICPROF_ROOTED(name, operation, root_bytes, other_bytes)                                                   \
  WICPROF_MPI(                                                                                                     \
      name,                                                                                                        \
      (Word sent, int sent_count, Word sent_type, Word buffer, int count, Word type, int root, Word communicator), \
      {WICPROF_COLLECTIVE((sent, sent_count, sent_type, buffer, count, type, root, communicator), operation,       \
                          rooted_bytes(                                                                            \
                              mpi, of, root, [&] { return root_bytes; }, [&] { return other_bytes; }),             \
                          root)})
WICPROF_ROOTED(Gather, Op::gather, mpi.bytes(count, type), mpi.bytes(sent_count, sent_type))
WICPROF_ROOTED(Scatter, Op::scatter, mpi.bytes(sent_count, sent_type), mpi.bytes(count, type))
WICPROF_MPI(Gatherv,
            (Word sent, int sent_count, Word sent_type, Word buffer, Word counts, Word places, Word type, int root,
             Word communicator),
            {WICPROF_COLLECTIVE((sent, sent_count, sent_type, buffer, counts, places, type, root, communicator),
                                Op::gatherv,
                                rooted_bytes(
                                    mpi, of, root, [&] { return own_part(mpi, of, counts, type); },
                                    [&] { return mpi.bytes(sent_count, sent_type); }),
                                root)})
WICPROF_MPI(Scatterv,
            (Word sent, Word counts, Word places, Word sent_type, Word buffer, int count, Word type, int root,
             Word communicator),
            {WICPROF_COLLECTIVE((sent, counts, places, sent_type, buffer, count, type, root, communicator),
                                Op::scatterv,
                                rooted_bytes(
                                    mpi, of, root, [&] { return own_part(mpi, of, counts, sent_type); },
                                    [&] { return mpi.bytes(count, type); }),
                                root)})

#define WICPROF_BEGUN(operation, bytes_of, root)                                                            \
  {                                                                                                         \
    const MpiImplementation& mpi = to.mpi();                                                                \
    to.begun_collective(operation, mpi.handle(communicator), bytes_of, root, mpi.handle_at(request), span); \
  }
WICPROF_MPI(Ibarrier, (Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::ibarrier), (communicator, request), WICPROF_BEGUN(Op::ibarrier, -1, -1))})
WICPROF_MPI(Ibcast, (Word buffer, int count, Word type, int root, Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::ibcast), (buffer, count, type, root, communicator, request),
                           WICPROF_BEGUN(Op::ibcast, mpi.bytes(count, type), root))})
WICPROF_MPI(Ireduce,
            (Word sent, Word buffer, int count, Word type, Word reduction, int root, Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::ireduce), (sent, buffer, count, type, reduction, root, communicator, request),
                           WICPROF_BEGUN(Op::ireduce, mpi.bytes(count, type), root))})
#define WICPROF_IREDUCE(name, operation)                                                                             \
  WICPROF_MPI(name, (Word sent, Word buffer, int count, Word type, Word reduction, Word communicator, Word request), \
              {WICPROF_AFTER(entering(operation), (sent, buffer, count, type, reduction, communicator, request),     \
                             WICPROF_BEGUN(operation, mpi.bytes(count, type), -1))})
WICPROF_IREDUCE(Iallreduce, Op::iallreduce)
WICPROF_IREDUCE(Iscan, Op::iscan)
WICPROF_IREDUCE(Iexscan, Op::iexscan)
WICPROF_IREDUCE(Ireduce_scatter_block, Op::ireduce_scatter_block)
WICPROF_MPI(Ireduce_scatter,
            (Word sent, Word buffer, Word counts, Word type, Word reduction, Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::ireduce_scatter),
                           (sent, buffer, counts, type, reduction, communicator, request),
                           WICPROF_BEGUN(Op::ireduce_scatter, -1, -1))})
#define WICPROF_IALL(name, operation)                                                                                  \
  WICPROF_MPI(                                                                                                         \
      name,                                                                                                            \
      (Word sent, int sent_count, Word sent_type, Word buffer, int count, Word type, Word communicator, Word request), \
      {WICPROF_AFTER(entering(operation), (sent, sent_count, sent_type, buffer, count, type, communicator, request),   \
                     WICPROF_BEGUN(operation, mpi.bytes(count, type), -1))})
WICPROF_IALL(Iallgather, Op::iallgather)
WICPROF_IALL(Ialltoall, Op::ialltoall)
WICPROF_MPI(Iallgatherv,
            (Word sent, int sent_count, Word sent_type, Word buffer, Word counts, Word places, Word type,
             Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::iallgatherv),
                           (sent, sent_count, sent_type, buffer, counts, places, type, communicator, request),
                           WICPROF_BEGUN(Op::iallgatherv, -1, -1))})
#define WICPROF_IALLV(name, operation)                                                                                \
  WICPROF_MPI(name,                                                                                                   \
              (Word sent, Word sent_counts, Word sent_places, Word sent_types, Word buffer, Word counts, Word places, \
               Word types, Word communicator, Word request),                                                          \
              {WICPROF_AFTER(                                                                                         \
                  entering(operation),                                                                                \
                  (sent, sent_counts, sent_places, sent_types, buffer, counts, places, types, communicator, request), \
                  WICPROF_BEGUN(operation, -1, -1))})
WICPROF_IALLV(Ialltoallv, Op::ialltoallv)
WICPROF_IALLV(Ialltoallw, Op::ialltoallw)
#define WICPROF_IROOTED(name, operation)                                                                      \
  WICPROF_MPI(name,                                                                                           \
              (Word sent, int sent_count, Word sent_type, Word buffer, int count, Word type, int root,        \
               Word communicator, Word request),                                                              \
              {WICPROF_AFTER(entering(operation),                                                             \
                             (sent, sent_count, sent_type, buffer, count, type, root, communicator, request), \
                             WICPROF_BEGUN(operation, -1, root))})
WICPROF_IROOTED(Igather, Op::igather)
WICPROF_IROOTED(Iscatter, Op::iscatter)
WICPROF_MPI(Igatherv,
            (Word sent, int sent_count, Word sent_type, Word buffer, Word counts, Word places, Word type, int root,
             Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::igatherv),
                           (sent, sent_count, sent_type, buffer, counts, places, type, root, communicator, request),
                           WICPROF_BEGUN(Op::igatherv, -1, root))})
WICPROF_MPI(Iscatterv,
            (Word sent, Word counts, Word places, Word sent_type, Word buffer, int count, Word type, int root,
             Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::iscatterv),
                           (sent, counts, places, sent_type, buffer, count, type, root, communicator, request),
                           WICPROF_BEGUN(Op::iscatterv, -1, root))})

// Communicators.
#define WICPROF_TO_MAKE(operation) \
  ([&](MpiRecording& to, TimeNs at) { to.enter_collective(operation, to.mpi().handle(communicator), -1, -1, at); })
#define WICPROF_MADE(operation) \
  to.made_communicator(operation, to.mpi().handle(communicator), to.mpi().handle_at(made), span)
WICPROF_MPI(Comm_dup, (Word communicator, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::comm_dup), (communicator, made), WICPROF_MADE(Op::comm_dup))})
WICPROF_MPI(Comm_dup_with_info, (Word communicator, Word info, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::comm_dup), (communicator, info, made), WICPROF_MADE(Op::comm_dup))})
WICPROF_MPI(Comm_split, (Word communicator, int colour, int key, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::comm_split), (communicator, colour, key, made),
                           WICPROF_MADE(Op::comm_split))})
WICPROF_MPI(Comm_split_type, (Word communicator, int type, int key, Word info, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::comm_split), (communicator, type, key, info, made),
                           WICPROF_MADE(Op::comm_split))})
WICPROF_MPI(Comm_create, (Word communicator, Word group, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::comm_create), (communicator, group, made),
                           WICPROF_MADE(Op::comm_create))})
WICPROF_MPI(Cart_create, (Word communicator, int dimensions, Word sizes, Word periods, int reorder, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::cart_create), (communicator, dimensions, sizes, periods, reorder, made),
                           WICPROF_MADE(Op::cart_create))})
WICPROF_MPI(Cart_sub, (Word communicator, Word kept, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::cart_sub), (communicator, kept, made), WICPROF_MADE(Op::cart_sub))})
WICPROF_MPI(Graph_create, (Word communicator, int nodes, Word index, Word edges, int reorder, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::graph_create), (communicator, nodes, index, edges, reorder, made),
                           WICPROF_MADE(Op::graph_create))})
WICPROF_MPI(Dist_graph_create,
            (Word communicator, int nodes, Word sources, Word degrees, Word destinations, Word weights, Word info,
             int reorder, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::dist_graph_create),
                           (communicator, nodes, sources, degrees, destinations, weights, info, reorder, made),
                           WICPROF_MADE(Op::dist_graph_create))})
WICPROF_MPI(Dist_graph_create_adjacent,
            (Word communicator, int in, Word sources, Word source_weights, int out, Word destinations, Word weights,
             Word info, int reorder, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::dist_graph_create),
                           (communicator, in, sources, source_weights, out, destinations, weights, info, reorder, made),
                           WICPROF_MADE(Op::dist_graph_create))})
#define WICPROF_FREED(name)                                                                 \
  WICPROF_MPI(name, (Word communicator), {                                                  \
    MpiRecording* const recording = MpiRecording::current();                                \
    const Word freed = recording == nullptr ? 0 : recording->mpi().handle_at(communicator); \
    return recorded(                                                                        \
        entered_unseen, [&] { return real(communicator); },                                 \
        [&](MpiRecording& to, MpiSpan) { to.forget_communicator(freed); });                 \
  })
WICPROF_FREED(Comm_free)
WICPROF_FREED(Comm_disconnect)

// Windows.
#define WICPROF_MADE_WINDOW to.made_window(to.mpi().handle(communicator), to.mpi().handle_at(made), span)
#define WICPROF_WINDOW(name)                                                                                \
  WICPROF_MPI(name, (Word base, Word size, Word unit, Word info, Word communicator, Word made),             \
              {WICPROF_AFTER(WICPROF_TO_MAKE(Op::win_create), (base, size, unit, info, communicator, made), \
                             WICPROF_MADE_WINDOW)})
// MPI_Win_allocate has the size first, and the place of the base behind the communicator.
#define WICPROF_OWN_WINDOW(name)                                                                            \
  WICPROF_MPI(name, (Word size, Word unit, Word info, Word communicator, Word base, Word made),             \
              {WICPROF_AFTER(WICPROF_TO_MAKE(Op::win_create), (size, unit, info, communicator, base, made), \
                             WICPROF_MADE_WINDOW)})
WICPROF_WINDOW(Win_create)
WICPROF_OWN_WINDOW(Win_allocate)
WICPROF_OWN_WINDOW(Win_allocate_shared)
WICPROF_MPI(Win_create_dynamic, (Word info, Word communicator, Word made),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::win_create), (info, communicator, made), WICPROF_MADE_WINDOW)})
WICPROF_MPI(Win_fence, (int assertion, Word communicator),
            {WICPROF_AFTER(WICPROF_TO_MAKE(Op::win_fence), (assertion, communicator),
                           to.collective(Op::win_fence, to.mpi().handle(communicator), -1, -1, span))})
WICPROF_MPI(Win_free, (Word window), {
  MpiRecording* const recording = MpiRecording::current();
  const Word freed = recording == nullptr ? 0 : recording->mpi().handle_at(window);
  return recorded([&](MpiRecording& to, TimeNs at) { to.enter_collective(Op::win_free, freed, -1, -1, at); },
                  [&] { return real(window); },
                  [&](MpiRecording& to, MpiSpan span) {
                    to.collective(Op::win_free, freed, -1, -1, span);
                    to.forget_communicator(freed);
                  });
})

// Calls that wait for other processes in a way that is not told: their time is no work of the process. Arguments are
// words, whatever they are: the calling convention passes each in a register or a word of its own.
#define WICPROF_OTHER(name, parameters, arguments) \
  WICPROF_MPI(name, parameters, {WICPROF_AFTER(entering(Op::other), arguments, to.call(Op::other, span))})
#define WICPROF_OTHER1(name) WICPROF_OTHER(name, (Word a), (a))
#define WICPROF_OTHER2(name) WICPROF_OTHER(name, (Word a, Word b), (a, b))
#define WICPROF_OTHER3(name) WICPROF_OTHER(name, (Word a, Word b, Word c), (a, b, c))
#define WICPROF_OTHER4(name) WICPROF_OTHER(name, (Word a, Word b, Word c, Word d), (a, b, c, d))
#define WICPROF_OTHER5(name) WICPROF_OTHER(name, (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e))
#define WICPROF_OTHER6(name) WICPROF_OTHER(name, (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f))
#define WICPROF_OTHER7(name) \
  WICPROF_OTHER(name, (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g))
#define WICPROF_OTHER8(name) \
  WICPROF_OTHER(name, (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h), (a, b, c, d, e, f, g, h))
#define WICPROF_OTHER9(name)                                                                    \
  WICPROF_OTHER(name, (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i), \
                (a, b, c, d, e, f, g, h, i))
WICPROF_OTHER1(Win_complete)
WICPROF_OTHER1(Win_wait)
WICPROF_OTHER1(Win_unlock_all)
WICPROF_OTHER1(Win_flush_all)
WICPROF_OTHER1(Win_flush_local_all)
WICPROF_OTHER1(File_close)
WICPROF_OTHER1(File_sync)
WICPROF_OTHER2(Buffer_detach)
WICPROF_OTHER2(Comm_join)
WICPROF_OTHER2(Win_unlock)
WICPROF_OTHER2(Win_lock_all)
WICPROF_OTHER2(Win_flush)
WICPROF_OTHER2(Win_flush_local)
WICPROF_OTHER2(File_set_size)
WICPROF_OTHER2(File_preallocate)
WICPROF_OTHER3(Intercomm_merge)
WICPROF_OTHER3(Win_start)
WICPROF_OTHER3(Win_post)
WICPROF_OTHER3(File_read_all_end)
WICPROF_OTHER3(File_write_all_end)
WICPROF_OTHER3(File_read_at_all_end)
WICPROF_OTHER3(File_write_at_all_end)
WICPROF_OTHER3(File_read_ordered_end)
WICPROF_OTHER3(File_write_ordered_end)
WICPROF_OTHER4(Comm_create_group)
WICPROF_OTHER4(Win_lock)
WICPROF_OTHER5(Mrecv)
WICPROF_OTHER5(Comm_accept)
WICPROF_OTHER5(Comm_connect)
WICPROF_OTHER5(File_open)
WICPROF_OTHER5(File_read_all)
WICPROF_OTHER5(File_write_all)
WICPROF_OTHER5(File_read_ordered)
WICPROF_OTHER5(File_write_ordered)
WICPROF_OTHER6(Intercomm_create)
WICPROF_OTHER6(File_set_view)
WICPROF_OTHER6(File_read_at_all)
WICPROF_OTHER6(File_write_at_all)
WICPROF_OTHER7(Neighbor_allgather)
WICPROF_OTHER7(Neighbor_alltoall)
WICPROF_OTHER8(Comm_spawn)
WICPROF_OTHER8(Neighbor_allgatherv)
WICPROF_OTHER9(Comm_spawn_multiple)
WICPROF_OTHER9(Neighbor_alltoallv)
WICPROF_OTHER9(Neighbor_alltoallw)
