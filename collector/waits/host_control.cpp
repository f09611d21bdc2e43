#include "collector/waits/host_control.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "collector/program/own_thread.h"
#include "collector/program/time_slice.h"
#include "protocol/notice.h"

namespace wicprof::collector {

namespace {

bool is_hybrid(const std::atomic<std::uint32_t>& word) {
  return host_strategy(word.load(std::memory_order_relaxed)) == StrategyId::hybrid;
}

}  // namespace

ExactSleeps::ExactSleeps() : before_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) {
  if (before_ > 0) prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

ExactSleeps::~ExactSleeps() {
  if (before_ > 0) prctl(PR_SET_TIMERSLACK, before_, 0, 0, 0);
}

SleepCosts measure_sleeps() {
  const ExactSleeps exact;
  const std::atomic<std::uint32_t> never{0};
  const auto measure = [&](auto& late, TimeNs nap) {
    for (TimeNs& one : late) {
      const TimeNs begin = now_ns();
      futex_wait(never, 0, nap);
      one = std::max<TimeNs>(0, now_ns() - begin - nap);
    }
    std::sort(late.begin(), late.end());
    return late[late.size() * 95 / 100];
  };
  std::array<TimeNs, 41> short_ones{};
  std::array<TimeNs, 21> long_ones{};
  const TimeNs late = measure(short_ones, 50'000);
  return {short_ones[short_ones.size() / 2], std::max(late, measure(long_ones, 2 * kMillisecond))};
}

void HostControl::begin_once(EventSink& sink) {
  const std::lock_guard lock(mutex_);
  if (begun_.exchange(true) || control_ == nullptr || stopped_) return;
  sink_ = &sink;
  member_.emplace(*control_, control_, static_cast<Applier&>(*this));
  member_->join();
  const auto prepare = [this] {
    pthread_setname_np(pthread_self(), "wicprof-hosts");
    usual_time_slice();  // so that no waiting thread has to look it up
    const SleepCosts measured = measure_sleeps();
    wake_.store(measured.wake, std::memory_order_relaxed);
    late_.store(measured.late, std::memory_order_relaxed);
    control_->host_wake_ns.store(measured.wake, std::memory_order_relaxed);
  };
  if (member_->begin([](auto run) { return start_own_thread(std::move(run)); }, prepare)) return;
  recorder_gone_ = true;  // nobody would notice
  write_notice(NoticeSeverity::warning, refused_thread("host threads keep the program's own way of waiting"));
}

void HostControl::stop() {
  const std::lock_guard lock(mutex_);
  if (!stopped_.exchange(true) && member_) member_->leave();
}

void HostControl::let_go() {
  if (stopped_ || control_ == nullptr) return;
  stop();
  look_anew();
}

Applier::Site HostControl::site(std::size_t index) const {
  const auto id = WaitSites::kFirst + static_cast<SiteId>(index);
  return {id, wait_sites_.session_number(id)};
}

void HostControl::recorder_gone(bool gone) {
  recorder_gone_ = gone;
  look_anew();
}

/// Threads that sleep in a call's place look anew, also one that is about to sleep.
void HostControl::look_anew() {
  control_->sequence.fetch_add(1, std::memory_order_release);
  futex_wake_all(control_->sequence);
}

void HostControl::write_notice(NoticeSeverity severity, const std::string& text) {
  wicprof::write_notice(*sink_, severity, text);
}

TimeNs HostControl::between_looks() {
  follow_hybrid();
  return SessionMember::kInterval;
}

/// Whether the whole program or any site is to wait by `hybrid`, which needs to know the launches.
void HostControl::follow_hybrid() {
  bool hybrid = is_hybrid(control_->host_wanted);
  for (std::size_t i = 0; i < WaitSites::kMost && !hybrid; ++i) {
    const std::uint32_t number = site(i).number;
    hybrid = number != 0 && is_hybrid(control_->sites[number].wanted);
  }
  hybrid = hybrid && !own_way();
  if (!hybrid) {
    change_launches(Launches::wanted, Launches::unasked);
    change_launches(Launches::needed, Launches::unasked);
  }
  const Launches launches = launches_.load(std::memory_order_relaxed);
  hybrid = hybrid && (launches == Launches::wanted || launches == Launches::needed);
  if (hybrid == hybrid_) return;
  hybrid_ = hybrid;
  if (of_hybrid_) of_hybrid_(hybrid);
}

}  // namespace wicprof::collector
