#include "collector/mpi/recording.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "collector/mpi/own_call.h"
#include "protocol/process.h"

namespace wicprof::collector {

namespace {

/// Programs that number their messages by tags would fill their own memory.
constexpr std::size_t kMostStreams = std::size_t{1} << 18;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

std::uint64_t hash_of(const std::vector<int>& ranks) {
  std::uint64_t hash = ranks.size();
  for (const int rank : ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
  return hash;
}

std::uint32_t own_thread() {
  static thread_local std::uint32_t thread = 0;
  if (thread == 0) thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return thread;
}

/// Distinguishes the jobs of a trace: alike in all processes of one job.
std::uint64_t& job() {
  static std::uint64_t hash = 0;
  return hash;
}

}  // namespace

std::atomic<MpiRecording*> MpiRecording::current_{nullptr};

std::size_t MpiRecording::Hash::operator()(const Stream& stream) const {
  const auto peer = static_cast<std::uint32_t>(stream.peer), tag = static_cast<std::uint32_t>(stream.tag);
  return mix(stream.communicator + (stream.sends ? 1 : 0), (std::uint64_t{peer} << 32) | tag);
}

void MpiRecording::note_job() noexcept {
  std::uint64_t hash = 1;
  bool named = false;
  for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "PMI_JOBID"}) {
    const char* const value = secure_getenv(name);
    if (value == nullptr) continue;
    hash = mix(hash, value);
    named = named || std::string_view(name) != "SLURM_JOB_ID";
  }
  // MPICH's process manager names no job; its processes share the one at the other end of this socket.
  if (const char* const socket = named ? nullptr : secure_getenv("PMI_FD"); socket != nullptr) {
    ucred manager{};
    socklen_t bytes = sizeof manager;
    if (getsockopt(std::atoi(socket), SOL_SOCKET, SO_PEERCRED, &manager, &bytes) == 0) {
      hash = mix(hash, static_cast<std::uint64_t>(manager.pid));
    }
  }
  job() = hash;
}

MpiRecording::MpiRecording(SessionMap session, RingHeader* ring, MpiImplementation mpi)
    : session_(std::move(session)), sink_(ring), mpi_(mpi) {}

namespace {

SessionMap* attached_early = nullptr;  // between enter_init() and begin(); never unmapped

}  // namespace

void MpiRecording::enter_init(MpiOperation operation, TimeNs at) noexcept {
  static std::atomic<bool> entered{false};
  if (entered.exchange(true)) return;
  try {
    const char* const path = secure_getenv(kSessionVariable);
    if (path == nullptr || *path == '\0') return;
    Result<SessionMap> session = SessionMap::attach(path);
    if (!session) return;
    attached_early = new SessionMap(*std::move(session));
    show_mpi_calls(attached_early->open_work());
    OpenMpiCall call;
    call.begin = at;
    call.operation = operation;
    enter_mpi_call(call, 0);
  } catch (...) {  // for example out of memory: the program continues unrecorded
  }
}

void MpiRecording::begin(MpiOperation operation, MpiSpan span) noexcept {
  static std::atomic<bool> begun{false};
  if (begun.exchange(true)) return;
  try {
    SessionMap* const session = attached_early;
    if (session == nullptr) return;  // no ring to report to
    RingHeader* const ring = session->claim_ring();
    if (ring == nullptr) return;
    const std::optional<MpiImplementation> mpi = MpiImplementation::find();
    // Never destroyed: other threads may be in a call of MPI until the process ends.
    auto* const recording = new MpiRecording(std::move(*session), ring, mpi.value_or(MpiImplementation()));
    write_process_event(recording->sink_);
    if (!mpi) {
      return recording->sink_.loss(LossSource::cupti, 1,
                                   "no MPI calls recorded: the program's MPI is neither Open MPI nor of MPICH's kind");
    }
    {
      EventSink::Locked sink(recording->sink_);
      recording->declare(sink, mpi->world, job(), "MPI_COMM_WORLD", mpi->world);
    }
    recording->call(operation, span);
    if (MpiGaps* const gaps = recording->own_gaps()) gaps->leave(span.end);
    pthread_atfork(nullptr, nullptr, [] { end(); });
    current_.store(recording, std::memory_order_release);
  } catch (...) {  // for example out of memory: the program continues unrecorded
  }
}

MpiRecording::Communicator& MpiRecording::declare(Sink& sink, MpiWord handle, CommunicatorId id, std::string_view name,
                                                  MpiWord like) {
  forget(handle);
  Communicator made;
  made.inter = mpi_.is_intercommunicator(like);
  made.world_ranks = mpi_.world_ranks(like, made.inter);
  made.shown = {id == 0 ? 1 : id,
                mpi_.rank(like),
                static_cast<std::int32_t>(made.world_ranks.size()),
                mpi_.rank(mpi_.world),
                0,
                {}};
  copy_name(made.shown.name, name);
  OpenWork& work = session_.open_work();
  made.entry =
      claim_entry(work.communicators, static_cast<std::uint32_t>(getpid()), work.mpi_left_out, process_is_gone);
  if (made.entry != nullptr) made.entry->write(made.shown);
  auto event = make_event<MpiCommunicatorEvent>();
  event.communicator = made.id();
  event.name = sink.text(name);
  event.rank = made.shown.rank;
  event.size = made.shown.size;
  event.world_rank = made.shown.world_rank;
  sink.write(event);
  return communicators_.insert_or_assign(handle, std::move(made)).first->second;
}

void MpiRecording::forget(MpiWord handle) {
  const auto found = communicators_.find(handle);
  if (found == communicators_.end()) return;
  if (found->second.entry != nullptr) found->second.entry->give_back();
  communicators_.erase(found);
}

MpiRecording::Communicator& MpiRecording::communicator(Sink& sink, MpiWord handle) {
  const auto found = communicators_.find(handle);
  if (found != communicators_.end()) return found->second;
  // Its making was not seen: processes count such communicators alike as long as they use them in one order.
  const std::uint64_t group = mix(job(), hash_of(mpi_.world_ranks(handle, mpi_.is_intercommunicator(handle))));
  return declare(sink, handle, mix(group, ++unseen_[group]), "communicator", handle);
}

void MpiRecording::made_communicator(MpiOperation operation, MpiWord of, MpiWord made, MpiSpan span) {
  Sink sink(sink_);
  const MpiCallEvent event = collective_event(sink, operation, of, -1, -1, span);
  sink.write(event);
  if (made == mpi_.no_communicator) return;
  const std::uint64_t group = hash_of(mpi_.world_ranks(made, mpi_.is_intercommunicator(made)));
  declare(sink, made, mix(mix(event.communicator, event.sequence), group), mpi_operation_name(operation), made);
}

void MpiRecording::made_window(MpiWord of, MpiWord made, MpiSpan span) {
  Sink sink(sink_);
  const MpiCallEvent event = collective_event(sink, MpiOperation::win_create, of, -1, -1, span);
  sink.write(event);
  declare(sink, made, mix(event.communicator, event.sequence), mpi_operation_name(MpiOperation::win_create), of);
}

void MpiRecording::forget_communicator(MpiWord handle) {
  const Sink lock(sink_);
  forget(handle);
}

std::uint32_t MpiRecording::next_of(Sink& sink, const Stream& stream) {
  const auto found = messages_.find(stream);
  if (found != messages_.end()) return ++found->second;
  if (messages_.size() >= kMostStreams) {
    if (!std::exchange(said_full_, true)) {
      sink.loss(LossSource::cupti, 1,
                "MPI messages with further tags are not matched: the program uses more than 262,144 tags and peers");
    }
    return 0;
  }
  messages_.emplace(stream, 1);
  return 1;
}

OpenMpiCall MpiRecording::entered(MpiOperation operation, MpiWord handle, int peer, std::int64_t bytes,
                                  TimeNs at) const {
  OpenMpiCall call;
  call.begin = at;
  call.bytes = bytes;
  call.operation = operation;
  const auto found = communicators_.find(handle);
  if (found == communicators_.end()) return call;
  call.communicator = found->second.id();
  call.peer = found->second.world_rank(peer);
  const bool counts = mpi_kind(operation) == MpiKind::collective && !found->second.inter;
  if (counts) call.sequence = found->second.shown.collectives + 1;
  return call;
}

void MpiRecording::enter_message(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes,
                                 TimeNs at) {
  const Sink lock(sink_);
  OpenMpiCall call = entered(operation, communicator, peer, bytes, at);
  call.tag = tag;
  enter_mpi_call(call, 0);
}

void MpiRecording::enter_collective(MpiOperation operation, MpiWord communicator, std::int64_t bytes, int root,
                                    TimeNs at) {
  const Sink lock(sink_);
  OpenMpiCall call = entered(operation, communicator, root, bytes, at);
  enter_mpi_call(call, 0);
}

void MpiRecording::enter_sendrecv(MpiOperation operation, MpiWord communicator, int peer, int tag, std::int64_t bytes,
                                  int source, int source_tag, TimeNs at) {
  const Sink lock(sink_);
  OpenMpiCall call = entered(operation, communicator, peer, bytes, at);
  call.tag = tag;
  call.requests = 1;
  const OpenMpiCall received = entered(MpiOperation::recv, communicator, source, -1, at);
  call.awaited[0] = {received.communicator, at, 0, received.peer, source_tag, MpiOperation::recv, {}};
  enter_mpi_call(call, 1);
}

void MpiRecording::enter(MpiOperation operation, TimeNs at) noexcept {
  OpenMpiCall call;
  call.begin = at;
  call.operation = operation;
  enter_mpi_call(call, 0);
}

bool MpiRecording::enter_wait(MpiOperation operation, const MpiWord* requests, std::size_t count, TimeNs at) {
  const Sink lock(sink_);
  OpenMpiCall call;
  call.begin = at;
  call.operation = operation;
  bool needs_status = false;
  std::size_t awaited = 0;
  // Sends come last: few of them wait for anybody.
  for (const bool sends : {false, true}) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = requests_.find(requests[i]);
      if (found == requests_.end()) continue;
      const OpenRequest& open = found->second;
      if ((mpi_kind(open.operation) == MpiKind::sends) != sends) continue;
      needs_status = needs_status || open.any || open.cancelled;
      ++call.requests;
      if (awaited == call.awaited.size()) continue;
      call.awaited[awaited++] = {open.communicator, open.posted, open.sequence, open.peer, open.tag,
                                 open.operation,    {}};
    }
  }
  enter_mpi_call(call, awaited);
  return needs_status;
}

void MpiRecording::leave(TimeNs at) noexcept {
  leave_mpi_call(at);
  if (MpiGaps::own != nullptr) MpiGaps::own->leave(at);
}

MpiGaps* MpiRecording::own_gaps() noexcept {
  if (MpiGaps::own != nullptr) return MpiGaps::own;
  try {
    return &gaps_.here();
  } catch (...) {  // the program has used up all keys of POSIX threads
    return nullptr;
  }
}

void MpiRecording::gap_ends(TimeNs at) {
  MpiGaps* const gaps = own_gaps();
  if (gaps != nullptr && gaps->enter(at)) last_gap_ended();
}

void MpiRecording::last_gap_ended() {
  MpiGaps* const gaps = own_gaps();
  if (gaps == nullptr) return;
  if (const std::optional<MpiGapEvent> event = gaps->take()) sink_.write(*event);
}

void MpiRecording::call(MpiOperation operation, MpiSpan span) {
  auto event = make_event<MpiCallEvent>();
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.bytes = event.peer = event.tag = -1;
  event.thread = own_thread();
  event.operation = operation;
  sink_.write(event);
}

MpiCallEvent MpiRecording::collective_event(Sink& sink, MpiOperation operation, MpiWord handle, std::int64_t bytes,
                                            int root, MpiSpan span) {
  Communicator& of = communicator(sink, handle);
  auto event = make_event<MpiCallEvent>();
  event.communicator = of.id();
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.bytes = bytes;
  event.thread = own_thread();
  event.peer = event.tag = -1;
  if (!of.inter) {  // whose two groups do different things
    event.sequence = ++of.shown.collectives;
    event.peer = of.world_rank(root);
    if (of.entry != nullptr) of.entry->write_front(of.shown, offsetof(OpenCommunicator, name));
  }
  event.operation = operation;
  return event;
}

void MpiRecording::collective(MpiOperation operation, MpiWord handle, std::int64_t bytes, int root, MpiSpan span) {
  Sink sink(sink_);
  sink.write(collective_event(sink, operation, handle, bytes, root, span));
}

void MpiRecording::begun_collective(MpiOperation operation, MpiWord handle, std::int64_t bytes, int root,
                                    MpiWord request, MpiSpan span) {
  Sink sink(sink_);
  const MpiCallEvent event = collective_event(sink, operation, handle, bytes, root, span);
  sink.write(event);
  open(request,
       {operation, event.communicator, handle, event.sequence, event.peer, -1, false, false, bytes, span.begin});
}

MpiCallEvent MpiRecording::message_event(Sink& sink, MpiOperation operation, MpiWord handle, int peer, int tag,
                                         std::int64_t bytes, MpiSpan span) {
  const Communicator& of = communicator(sink, handle);
  auto event = make_event<MpiCallEvent>();
  event.communicator = of.id();
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.bytes = bytes;
  event.thread = own_thread();
  event.peer = event.tag = -1;
  if (peer >= 0 && static_cast<std::size_t>(peer) < of.world_ranks.size()) {
    event.peer = of.world_rank(peer);
    event.tag = tag;
    if (event.peer >= 0 && tag >= 0) {
      event.sequence = next_of(sink, {of.id(), event.peer, tag, mpi_kind(operation) == MpiKind::sends});
    }
  }
  event.operation = operation;
  return event;
}

void MpiRecording::message(MpiOperation operation, MpiWord handle, int peer, int tag, std::int64_t bytes,
                           MpiSpan span) {
  Sink sink(sink_);
  sink.write(message_event(sink, operation, handle, peer, tag, bytes, span));
}

bool MpiRecording::is_any(MpiOperation operation, int peer, int tag) const {
  return mpi_kind(operation) == MpiKind::receives && (peer == mpi_.any_source || tag == MpiImplementation::kAnyTag);
}

void MpiRecording::begin_message(Sink& sink, const MpiCallEvent& event, MpiWord handle, bool any, MpiWord request) {
  sink.write(event);
  open(request, {event.operation, event.communicator, handle, event.sequence, event.peer, event.tag, any, false,
                 event.bytes, event.begin_ns});
}

void MpiRecording::begun_message(MpiOperation operation, MpiWord handle, int peer, int tag, std::int64_t bytes,
                                 MpiWord request, MpiSpan span) {
  Sink sink(sink_);
  begin_message(sink, message_event(sink, operation, handle, peer, tag, bytes, span), handle,
                is_any(operation, peer, tag), request);
}

void MpiRecording::made_persistent(MpiOperation operation, MpiWord handle, int peer, int tag, std::int64_t bytes,
                                   MpiWord request) {
  const Sink lock(sink_);
  persistent_.insert_or_assign(request, Persistent{operation, handle, peer, tag, bytes});
}

void MpiRecording::started(const MpiWord* requests, std::size_t count, MpiSpan span) {
  Sink sink(sink_);
  bool told = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = persistent_.find(requests[i]);
    if (found == persistent_.end()) continue;
    const auto& [operation, handle, peer, tag, bytes] = found->second;
    // The call's time counts once.
    const MpiSpan of_this = std::exchange(told, true) ? MpiSpan{span.end, span.end} : span;
    begin_message(sink, message_event(sink, operation, handle, peer, tag, bytes, of_this), handle,
                  is_any(operation, peer, tag), requests[i]);
  }
  if (told) return;
  auto event = make_event<MpiCallEvent>();
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.bytes = event.peer = event.tag = -1;
  event.thread = own_thread();
  event.operation = MpiOperation::other;
  sink.write(event);
}

void MpiRecording::received(MpiOperation by, MpiWord handle, int source, int tag, std::int64_t bytes, MpiSpan span) {
  Sink sink(sink_);
  const MpiCallEvent event = message_event(sink, MpiOperation::recv, handle, source, tag, bytes, span);
  write(sink,
        {MpiOperation::recv, event.communicator, handle, event.sequence, event.peer, event.tag, false, false, bytes,
         span.begin},
        by, span);
}

void MpiRecording::found_message(MpiOperation operation, MpiWord handle, MpiSource message, MpiSpan span) {
  Sink sink(sink_);
  const MpiCallEvent event = message_event(sink, operation, handle, message.source, message.tag, -1, span);
  sink.write(event);
  if (event.sequence == 0) return;
  const auto stream = messages_.find({event.communicator, event.peer, event.tag, false});
  if (stream != messages_.end()) --stream->second;
}

void MpiRecording::open(MpiWord request, const OpenRequest& made) {
  const auto [at, added] = requests_.emplace(request, made);
  if (added) return;
  if (mpi_kind(made.operation) == MpiKind::sends) {
    more_[request].push_back(made);
  } else {  // the end of the earlier one was not seen
    at->second = made;
  }
}

std::optional<MpiRecording::OpenRequest> MpiRecording::take(MpiWord request) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return std::nullopt;
  const OpenRequest taken = found->second;
  const auto more = more_.empty() ? more_.end() : more_.find(request);
  if (more == more_.end()) {
    requests_.erase(found);
  } else {
    found->second = more->second.front();
    more->second.pop_front();
    if (more->second.empty()) more_.erase(more);
  }
  return taken;
}

/// The next message has the number of the one that the cancelled request has not brought.
void MpiRecording::give_back_number(const OpenRequest& cancelled) {
  if (cancelled.sequence == 0) return;
  const bool sends = mpi_kind(cancelled.operation) == MpiKind::sends;
  const auto stream = messages_.find({cancelled.communicator, cancelled.peer, cancelled.tag, sends});
  if (stream == messages_.end()) return;
  --stream->second;
  for (auto& [handle, open] : requests_) {
    if (open.communicator == cancelled.communicator && open.peer == cancelled.peer && open.tag == cancelled.tag &&
        open.sequence > cancelled.sequence && (mpi_kind(open.operation) == MpiKind::sends) == sends)
      --open.sequence;
  }
}

void MpiRecording::completed(MpiOperation by, MpiWord request, const MpiSource* source, bool cancelled, MpiSpan span) {
  Sink sink(sink_);
  std::optional<OpenRequest> done = take(request);
  if (!done) return;
  if (done->cancelled && cancelled) return give_back_number(*done);
  if (done->any && source != nullptr) {
    const MpiCallEvent event = message_event(sink, done->operation, done->handle, source->source, source->tag, 0, span);
    done->peer = event.peer;
    done->tag = event.tag;
    done->sequence = event.sequence;
  }
  write(sink, *done, by, span);
}

void MpiRecording::cancels(MpiWord request) {
  const Sink lock(sink_);
  const auto found = requests_.find(request);
  if (found != requests_.end()) found->second.cancelled = true;
}

void MpiRecording::forget_request(MpiWord request) {
  const Sink lock(sink_);
  requests_.erase(request);
  more_.erase(request);
  persistent_.erase(request);
}

void MpiRecording::failed(MpiWord request) {
  const Sink lock(sink_);
  take(request);
}

void MpiRecording::write(Sink& sink, const OpenRequest& request, MpiOperation by, MpiSpan span) {
  auto event = make_event<MpiRequestEvent>();
  event.communicator = request.communicator;
  event.posted_ns = request.posted;
  event.begin_ns = span.begin;
  event.end_ns = span.end;
  event.bytes = request.bytes;
  event.thread = own_thread();
  event.peer = request.peer;
  event.tag = request.tag;
  event.sequence = request.sequence;
  event.operation = request.operation;
  event.completed_by = by;
  sink.write(event);
}

}  // namespace wicprof::collector
