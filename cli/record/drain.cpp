#include "cli/record/drain.h"

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "protocol/mapping_guard.h"

namespace wicprof::cli {

namespace {
// Bytes read from one ring per round, so that a busy ring does not delay the others.
constexpr std::size_t kBytesPerRound = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kIdle{1};                  // pause after a round without records
constexpr TimeNs kQuickCheckInterval = 10 * kMillisecond;      // between quick checks of the ring owners
constexpr TimeNs kThoroughCheckInterval = 250 * kMillisecond;  // between thorough checks of the ring owners
}  // namespace

Drain::Drain(const SessionMap& session, const std::string& session_path, store::Recorder& recorder, RingHeader* own,
             IterationMeter& meter, std::function<void()> each_round)
    : session_(session),
      session_path_(session_path),
      recorder_(recorder),
      meter_(meter),
      each_round_(std::move(each_round)) {
  for (std::size_t i = 0; i < session.ring_count(); ++i) {
    rings_.push_back({session.ring(i), RingReader(session.ring(i), session.ring_capacity())});
  }
  if (own != nullptr) rings_.push_back({own, RingReader(own)});
}

void Drain::start() {
  session_.header().reclaims_rings.store(1, std::memory_order_release);
  thread_ = std::thread([this] { work(); });
}

Drain::~Drain() { finish(); }

void Drain::finish() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

store::RecorderProgress Drain::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void Drain::work() {
  pthread_setname_np(pthread_self(), "wicprof-drain");
  for (;;) {
    const bool last = stop_.load(std::memory_order_relaxed);
    std::size_t records = 0;
    try {
      records = round(last ? SIZE_MAX : kBytesPerRound);
    } catch (const std::exception& e) {
      return give_up(e.what());
    }
    if (last) return;
    if (records == 0) std::this_thread::sleep_for(kIdle);
  }
}

// The program continues: its rings fill up, and its later events are dropped.
void Drain::give_up(const char* reason) noexcept try {
  failure_ = std::string("the recorder failed (") + reason + ")";
  const std::lock_guard lock(mutex_);
  progress_.stopped = failure_;
} catch (const std::exception&) {
  failure_ = "no memory";  // short enough to need none
}

std::size_t Drain::round(std::size_t max_bytes) {
  const ControlBlock& control = session_.control();
  if (attached() == 0 && attached_runtimes(control) != 0) {
    first_mode_ = program_wait(control).mode;
    attached_.store(now_ns(), std::memory_order_relaxed);
  }
  std::size_t records = 0;
  for (std::size_t i = 0; i < rings_.size(); ++i) records += read(i, max_bytes);
  reclaim_rings();
  if (const std::uint32_t refused = session_.header().rings_refused.load(std::memory_order_acquire); refused != 0) {
    recorder_.set_stat(store::Stat::producers_refused, "", refused);
  }
  if (is_mapping_lost(&session_.header())) {
    recorder_.set_stat(store::Stat::ring_corrupt, "the session's file was truncated while recording", 1);
  }
  recorder_.tick();
  if (each_round_) each_round_();
  store::RecorderProgress now = recorder_.progress();
  const std::lock_guard lock(mutex_);
  progress_ = std::move(now);
  return records;
}

std::size_t Drain::read(std::size_t index, std::size_t max_bytes) {
  Source& source = rings_[index];
  const std::uint32_t owner = source.ring->owner.load(std::memory_order_acquire);
  if (owner == 0) return 0;  // a process that claims the ring now is read from the next round on
  recorder_.set_ring_process(index, owner);
  const auto take = [&](const EventHeader& event) {
    meter_.see(event);
    recorder_.add(index, event);
  };
  const std::size_t records = source.reader.read(take, max_bytes);
  recorder_.set_ring_dropped(index, source.reader.dropped(), source.reader.corrupt());
  return records;
}

// Reclaims the rings and runtimes of processes that are gone (protocol/ring.h states the order of steps).
void Drain::reclaim_rings() {
  const TimeNs now = now_ns();
  SessionHeader& header = session_.header();
  const std::uint32_t wanted = header.rings_wanted.load(std::memory_order_acquire);
  const bool thorough = wanted != rings_wanted_ || now - checked_thoroughly_ns_ >= kThoroughCheckInterval;
  if (!thorough && now - checked_ns_ < kQuickCheckInterval) return;
  rings_wanted_ = wanted;
  checked_ns_ = now;
  if (thorough) checked_thoroughly_ns_ = now;
  const OwnerLook look = thorough ? OwnerLook::thorough : OwnerLook::quick;
  for (std::size_t i = 0; i < session_.ring_count(); ++i) {
    RingHeader& ring = *rings_[i].ring;
    const std::uint32_t gone = gone_owner(ring.owner, session_path_, look);
    if (gone == 0) continue;
    read(i, SIZE_MAX);
    recorder_.forget_ring(i);
    rings_[i].reader = RingReader(&ring, session_.ring_capacity());
    reset_ring(ring);
    ring.owner.take_back(gone);
  }
  ControlBlock& control = session_.control();
  for (RuntimeControl& runtime : control.runtimes) {
    const std::uint32_t gone = gone_owner(runtime.owner, session_path_, look);
    if (gone != 0) drop_runtime(control, runtime, gone);
  }
}

}  // namespace wicprof::cli
