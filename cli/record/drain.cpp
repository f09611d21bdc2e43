#include "cli/record/drain.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "protocol/limit_words.h"
#include "protocol/mapping_guard.h"

namespace wicprof::cli {

namespace {
// Bytes read from one ring per round, so that a busy ring does not delay the others.
constexpr std::size_t kBytesPerRound = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kIdle{1};              // pause after a round without records
constexpr TimeNs kQuickCheckInterval = 10 * kMillisecond;  // between quick checks of the owners
constexpr TimeNs kCloseTurn = 250 * kMillisecond;          // in which each owner is looked at closely once, at best
// Per quick check: reading the maps of hundreds of large processes takes seconds, in which small rings would overflow.
constexpr TimeNs kCloseLooks = kMillisecond;
}  // namespace

Drain::Drain(const SessionMap& session, const std::string& session_path, store::Recorder& recorder, RingHeader* own,
             IterationMeter& meter, Triggers* triggers, std::function<void()> each_round)
    : session_(session),
      session_path_(session_path),
      recorder_(recorder),
      meter_(meter),
      triggers_(triggers),
      each_round_(std::move(each_round)) {
  for (std::size_t i = 0; i < session.ring_count(); ++i) {
    rings_.push_back({session.ring(i), RingReader(session.ring(i), session.ring_capacity(i))});
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
      records = round(last ? SIZE_MAX : kBytesPerRound, last);
    } catch (const std::exception& e) {
      return give_up(e);
    }
    if (last) return;
    if (records == 0) std::this_thread::sleep_for(kIdle);
  }
}

// The program continues: its rings fill up, and its later events are dropped.
void Drain::give_up(const std::exception& e) noexcept try {
  failure_ = "the recorder failed (" + reason_of(e) + ")";
  const std::lock_guard lock(mutex_);
  progress_.stopped = failure_;
} catch (const std::exception&) {
  failure_ = "out of memory";  // short enough to need none
}

std::size_t Drain::round(std::size_t max_bytes, bool last) {
  const ControlBlock& control = session_.control();
  if (attached() == 0 && attached_processes(control) != 0) {
    first_mode_ = program_wait(control).mode;
    attached_.store(now_ns(), std::memory_order_relaxed);
  }
  std::size_t records = 0;
  // The program may have overwritten the number of rings in use, which only grows.
  used_ = std::max(used_, session_.rings_used());
  for (std::size_t i = 0; i < used_; ++i) records += read(i, max_bytes);
  for (std::size_t i = session_.ring_count(); i < rings_.size(); ++i) records += read(i, max_bytes);
  reclaim(last);
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
    meter_.see(index, event, [&](TextId id) { return recorder_.text(index, id); });
    recorder_.add(index, event);
    if (triggers_ != nullptr) triggers_->see(recorder_, index, event);
  };
  const std::size_t records = source.reader.read(take, max_bytes);
  recorder_.set_ring_dropped(index, source.reader.dropped(), source.reader.corrupt());
  return records;
}

// Takes back the rings and places of processes that are gone (protocol/ring.h states the order of steps). A quick check
// looks at all of them, a close look at some.
void Drain::reclaim(bool last) {
  const TimeNs now = now_ns();
  const std::uint32_t wanted = session_.header().rings_wanted.load(std::memory_order_acquire);
  const bool all_closely = wanted != rings_wanted_;
  if (!all_closely && !last && now - checked_ns_ < kQuickCheckInterval) return;
  rings_wanted_ = wanted;
  checked_ns_ = now;
  for (std::size_t i = 0; i < pieces(); ++i) {
    take_back(i, all_closely && i < used_ ? OwnerLook::thorough : OwnerLook::quick);
  }
  if (next_closely_ == pieces() && now - turn_began_ns_ >= kCloseTurn) {
    next_closely_ = 0;
    turn_began_ns_ = now;
  }
  for (; next_closely_ < pieces() && now_ns() - now < kCloseLooks; ++next_closely_) {
    take_back(next_closely_, OwnerLook::thorough);
  }
}

// Pieces: the rings in use, then the members.
std::size_t Drain::pieces() const { return used_ + kMaxMembers; }

void Drain::take_back(std::size_t piece, OwnerLook look) {
  if (piece >= used_) {
    ControlBlock& control = session_.control();
    MemberControl& member = control.members[piece - used_];
    if (member.state.load(std::memory_order_relaxed) == 0) return;
    for (PartControl& part : member.parts) {
      if (const std::uint32_t gone = gone_owner(part.owner, session_path_, look); gone != 0)
        drop_part(control, part, gone);
    }
    return;
  }
  RingHeader& ring = *rings_[piece].ring;
  const std::uint32_t gone = gone_owner(ring.owner, session_path_, look);
  if (gone == 0) return;
  read(piece, SIZE_MAX);
  if (ring.unwritten.load(std::memory_order_relaxed) > 0)
    recorder_.set_stat(store::Stat::ended_unwritten, "", ++ended_unwritten_);
  recorder_.forget_ring(piece);
  rings_[piece].reader = RingReader(&ring, session_.ring_capacity(piece));
  reset_ring(ring);
  ring.owner.take_back(gone);
}

}  // namespace wicprof::cli
