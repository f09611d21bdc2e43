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
    const bool known = needs_status_ && statuses != mpi.status_ignore;
    if (known) source = mpi.source_in(statuses, static_cast<std::size_t>(status));
    recording_.completed(by, handles_[index], known ? &source : nullptr, span);
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
  return recorded_since(
      all->begin(), *recording, [&] { return call(seen->used()); },
      [&](MpiRecording& to, MpiSpan span) {
        if (note(*all, seen->used(), span)) to.call(operation, span);
      });
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
#define WICPROF_SEND(name, operation)                                                                               \
  WICPROF_MPI(name, (Word buffer, int count, Word type, int peer, int tag, Word communicator),                      \
              {WICPROF_AFTER(WICPROF_TO_MESSAGE(operation, peer), (buffer, count, type, peer, tag, communicator), { \
                to.message(operation, to.mpi().handle(communicator), peer, tag, to.mpi().bytes(count, type), span); \
              })})
WICPROF_SEND(Send, Op::send)
WICPROF_SEND(Ssend, Op::ssend)
WICPROF_MPI(Recv, (Word buffer, int count, Word type, int source, int tag, Word communicator, Word status), {
  return receiving(
      source, tag, status, WICPROF_TO_MESSAGE(Op::recv, source),
      [&](Word seen) { return real(buffer, count, type, source, tag, communicator, seen); },
      [&](MpiRecording& to, MpiSource from, MpiSpan span) {
        to.message(Op::recv, to.mpi().handle(communicator), from.source, from.tag, to.mpi().bytes(count, type), span);
      });
})
WICPROF_MPI(Sendrecv,
            (Word sent, int sent_count, Word sent_type, int peer, int tag, Word buffer, int count, Word type,
             int source, int source_tag, Word communicator, Word status),
            {
              return receiving(
                  source, source_tag, status,
                  [&](MpiRecording& to, TimeNs at) {
                    to.enter_sendrecv(to.mpi().handle(communicator), peer, tag,
                                      to.mpi().bytes_of_own_type(sent_count, sent_type), source, source_tag, at);
                  },
                  [&](Word seen) {
                    return real(sent, sent_count, sent_type, peer, tag, buffer, count, type, source, source_tag,
                                communicator, seen);
                  },
                  [&](MpiRecording& to, MpiSource from, MpiSpan span) {
                    const Word of = to.mpi().handle(communicator);
                    to.message(Op::sendrecv, of, peer, tag, to.mpi().bytes(sent_count, sent_type), span);
                    to.received(of, from.source, from.tag, to.mpi().bytes(count, type), span);
                  });
            })
#define WICPROF_BEGIN(name, operation)                                                                             \
  WICPROF_MPI(name, (Word buffer, int count, Word type, int peer, int tag, Word communicator, Word request),       \
              {WICPROF_AFTER(entering(operation), (buffer, count, type, peer, tag, communicator, request), {       \
                to.begun_message(operation, to.mpi().handle(communicator), peer, tag, to.mpi().bytes(count, type), \
                                 to.mpi().handle_at(request), span);                                               \
              })})
WICPROF_BEGIN(Isend, Op::isend)
WICPROF_BEGIN(Issend, Op::issend)
WICPROF_BEGIN(Irecv, Op::irecv)
WICPROF_MPI(Request_free, (Word request), {
  MpiRecording* const recording = MpiRecording::current();
  const Word freed = recording == nullptr ? 0 : recording->mpi().handle_at(request);
  return recorded(
      entered_unseen, [&] { return real(request); }, [&](MpiRecording& to, MpiSpan) { to.forget_request(freed); });
})

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
WICPROF_MPI(Iallreduce, (Word sent, Word buffer, int count, Word type, Word reduction, Word communicator, Word request),
            {WICPROF_AFTER(entering(Op::iallreduce), (sent, buffer, count, type, reduction, communicator, request),
                           WICPROF_BEGUN(Op::iallreduce, mpi.bytes(count, type), -1))})

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
