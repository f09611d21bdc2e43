#include "collector/nccl/recording.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "protocol/launch.h"
#include "protocol/process.h"

namespace wicprof::collector {

namespace {

/// nullptr: not begun, or not in this process.
std::atomic<NcclRecording*> current{nullptr};
std::atomic<bool> ended{false};

std::uint32_t own_thread() {
  static thread_local std::uint32_t thread = 0;
  if (thread == 0) thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return thread;
}

}  // namespace

MpiOperation nccl_operation(const char* name) noexcept {
  constexpr std::string_view kPrefix = "nccl";
  const std::string_view wanted = name == nullptr ? std::string_view() : name;
  for (auto number = static_cast<std::size_t>(MpiOperation::nccl_all_reduce);
       is_nccl(static_cast<MpiOperation>(number)); ++number) {
    if (kMpiOperationNames[number].substr(kPrefix.size()) == wanted) return static_cast<MpiOperation>(number);
  }
  return MpiOperation::none;
}

std::int64_t nccl_datatype_bytes(const char* name) noexcept {
  const std::string_view type = name == nullptr ? std::string_view() : name;
  if (type.starts_with("ncclFloat8")) return 1;  // ncclFloat8e4m3, ncclFloat8e5m2
  for (const auto& [bits, bytes] : {std::pair<std::string_view, int>("16", 2), {"32", 4}, {"64", 8}, {"8", 1}}) {
    if (type.ends_with(bits)) return bytes;
  }
  return 0;
}

std::uint32_t NcclCommunicator::next_message(int peer, bool sends) {
  const std::lock_guard lock(mutex);
  return ++messages[std::uint64_t{static_cast<std::uint32_t>(peer)} << 1 | (sends ? 1 : 0)];
}

NcclRecording::NcclRecording(SessionMap session, RingHeader* ring) : session_(std::move(session)), sink_(ring) {
  world_rank_ = read_launch([](const char* name) -> const char* { return secure_getenv(name); }).rank;
}

NcclRecording* NcclRecording::here() noexcept {
  NcclRecording* const known = current.load(std::memory_order_acquire);
  if (known != nullptr) return known->gone_.load(std::memory_order_relaxed) ? nullptr : known;
  return ended.load(std::memory_order_relaxed) ? nullptr : begin();
}

NcclRecording* NcclRecording::begin() noexcept {
  // The child of a fork has the ring of its parent, and the lock below as it is then. CUDA does not work there, nor
  // does NCCL.
  [[maybe_unused]] static const int in_children = pthread_atfork(nullptr, nullptr, [] {
    ended.store(true, std::memory_order_relaxed);
    current.store(nullptr, std::memory_order_release);
  });
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (NcclRecording* const known = current.load(std::memory_order_acquire)) return known;
  if (ended.load(std::memory_order_relaxed)) return nullptr;
  // Only at the end: what another thread begins meanwhile is recorded, too.
  struct Once {
    ~Once() { ended.store(true, std::memory_order_relaxed); }
  } const once;
  try {
    const char* const path = secure_getenv(kSessionVariable);
    if (path == nullptr || *path == '\0') return nullptr;
    Result<SessionMap> session = SessionMap::attach(path);
    if (!session) return nullptr;  // no ring to report to
    RingHeader* const ring = session->claim_ring();
    if (ring == nullptr) return nullptr;
    // Never destroyed: other threads may be in a call of NCCL until the process ends.
    auto* const recording = new NcclRecording(std::move(*session), ring);
    write_process_event(recording->sink_);
    current.store(recording, std::memory_order_release);
    return recording;
  } catch (...) {  // for example out of memory: the program continues unrecorded
    return nullptr;
  }
}

bool NcclRecording::goes_on(TimeNs now) noexcept {
  if (now - looked_.load(std::memory_order_relaxed) < RecorderWatch::kInterval) return true;
  const std::unique_lock lock(watch_mutex_, std::try_to_lock);
  if (!lock) return true;
  looked_.store(now, std::memory_order_relaxed);
  const bool gone = watch_.gone(session_.control(), now);
  if (gone) gone_.store(true, std::memory_order_relaxed);
  return !gone;
}

void NcclRecording::made_communicator(NcclCommunicator& made, std::string_view name, int ranks, int rank) {
  // Without a launcher: the number in the first communicator, which is mostly that of all processes.
  {
    const std::lock_guard lock(watch_mutex_);
    if (world_rank_ < 0) world_rank_ = rank;
  }
  if (name.empty()) name = "NCCL communicator";
  made.shown = {made.id, rank, ranks, world_rank_, own_thread(), 0, 0, {}, {}};
  copy_name(made.shown.name, name);
  OpenWork& work = session_.open_work();
  made.entry = claim_entry(work.nccl, static_cast<std::uint32_t>(getpid()), work.nccl_left_out, process_is_gone);
  if (made.entry != nullptr) made.entry->write(made.shown);
  auto event = make_event<MpiCommunicatorEvent>();
  event.communicator = made.id;
  event.name = sink_.text(name);
  event.rank = rank;
  event.size = ranks;
  event.world_rank = world_rank_;
  sink_.write(event);
}

void NcclRecording::forget_communicator(NcclCommunicator& made) noexcept {
  // In the child of a fork the entry is still the parent's.
  if (made.entry != nullptr && made.entry->pid() == static_cast<std::uint32_t>(getpid())) made.entry->give_back();
}

MpiGaps* NcclRecording::own_gaps() noexcept {
  if (MpiGaps::own != nullptr) return MpiGaps::own;
  try {
    return &gaps_.here();
  } catch (...) {  // the program has used up all keys of POSIX threads
    return nullptr;
  }
}

void NcclRecording::enter(TimeNs at) {
  MpiGaps* const gaps = own_gaps();
  if (gaps == nullptr || !gaps->enter(at)) return;
  if (const std::optional<MpiGapEvent> event = gaps->take(); event && capturing()) sink_.write(*event);
}

void NcclRecording::leave(TimeNs at) noexcept {
  if (MpiGaps* const gaps = own_gaps()) gaps->leave(at);
}

void NcclRecording::enqueued(MpiOperation operation, NcclCommunicator& of, std::uint64_t sequence, int peer,
                             std::int64_t bytes, TimeNs entered, TimeNs at) {
  const bool is_collective = mpi_kind(operation) == MpiKind::collective;
  if (is_collective) {
    const std::lock_guard lock(of.mutex);
    of.shown.thread = own_thread();
    of.shown.add({at, bytes, peer, operation, {}});
    if (of.entry != nullptr) of.entry->write(of.shown);
  }
  if (!capturing()) return;
  auto event = make_event<MpiCallEvent>();
  event.communicator = of.id;
  event.begin_ns = entered;
  event.end_ns = at;
  event.bytes = bytes;
  event.thread = own_thread();
  event.peer = peer;
  event.tag = is_collective ? -1 : 0;
  event.sequence = static_cast<std::uint32_t>(sequence);
  event.operation = operation;
  sink_.write(event);
}

void NcclRecording::captured() {
  if (said_captured_.exchange(true)) return;
  sink_.loss(LossSource::cupti, 1, "calls of NCCL in CUDA graphs are not recorded");
}

}  // namespace wicprof::collector
