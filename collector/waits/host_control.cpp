#include "collector/waits/host_control.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "collector/program/notice.h"
#include "collector/program/own_thread.h"
#include "collector/program/time_slice.h"
#include "collector/waits/intervention.h"

namespace wicprof::collector {

namespace {

constexpr TimeNs kCheckInterval = 200 * kMillisecond;  // how often the thread looks without being woken

StrategyId strategy_of(std::uint32_t word) { return host_strategy(word); }

WaitedHow how_of(std::uint32_t word) {
  const StrategyId strategy = strategy_of(word);
  return {strategy == StrategyId::poll ? Mode::poll : Mode::park, strategy};
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
  // What is in force now, before the thread runs: a toggle may come first.
  Applied applied;
  applied.sequence = control_->sequence.load(std::memory_order_acquire);
  applied.program = control_->host_wanted.load(std::memory_order_relaxed);
  place_ = join_runtime(*control_, control_, applied.sequence);
  if (place_ == nullptr) return;  // the session has too many runtimes: waits follow the words, and nobody reports
  thread_ = start_own_thread([this, applied]() mutable {
    pthread_setname_np(pthread_self(), "wicprof-hosts");
    usual_time_slice();  // so that no waiting thread has to look it up
    const SleepCosts measured = measure_sleeps();
    wake_.store(measured.wake, std::memory_order_relaxed);
    late_.store(measured.late, std::memory_order_relaxed);
    control_->host_wake_ns.store(wake_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    follow_hybrid();
    while (!stopped_.load()) {
      futex_wait(control_->sequence, applied.sequence, kCheckInterval);
      follow_hybrid();
      apply(applied);
    }
    ended_ = true;
  });
  if (thread_.joinable()) return;
  leave_runtime(*control_, *place_);
  write_notice(sink, NoticeSeverity::warning,
               refused_thread("the trace does not say when waits of host threads follow a toggle, and what a sleep "
                              "costs is not measured"));
}

void HostControl::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (!thread_.joinable()) return;
  // The thread may have looked at stopped_ before, and begin its sleep only after the first wake-up.
  while (!ended_) {
    futex_wake_all(control_->sequence);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  thread_.join();
  leave_runtime(*control_, *place_);
}

void HostControl::apply(Applied& applied) {
  const std::uint32_t sequence = control_->sequence.load(std::memory_order_acquire);
  if (sequence == applied.sequence) return;
  const std::uint32_t program = control_->host_wanted.load(std::memory_order_relaxed);
  if (program != applied.program) {
    report(0, applied.program, program, sequence);
    std::fill(std::begin(applied.sites), std::end(applied.sites), WantedWait::kNothing);
  }
  for (SiteId i = 0; i < WaitSites::kMost; ++i) {
    const std::uint32_t number = sites_.session_number(WaitSites::kFirst + i);
    if (number == 0) continue;
    const std::uint32_t word = control_->sites[number].wanted.load(std::memory_order_relaxed);
    if (word == applied.sites[i]) continue;
    if (word != WantedWait::kNothing) {
      report(WaitSites::kFirst + i, applied.sites[i] == WantedWait::kNothing ? program : applied.sites[i], word,
             sequence);
    }
    applied.sites[i] = word;
  }
  applied.program = program;
  applied.sequence = sequence;
  report_applied(*control_, *place_, sequence);
}

/// Whether the whole program or any site is to wait by `hybrid`, which needs to know the launches.
void HostControl::follow_hybrid() {
  bool hybrid = strategy_of(control_->host_wanted.load(std::memory_order_relaxed)) == StrategyId::hybrid;
  for (SiteId i = 0; i < WaitSites::kMost && !hybrid; ++i) {
    const std::uint32_t number = sites_.session_number(WaitSites::kFirst + i);
    hybrid = number != 0 &&
             strategy_of(control_->sites[number].wanted.load(std::memory_order_relaxed)) == StrategyId::hybrid;
  }
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

void HostControl::report(SiteId site, std::uint32_t old_word, std::uint32_t new_word, std::uint32_t sequence) {
  sink_->write_or_hold(intervention({WaitSide::host, site, sequence}, how_of(old_word), how_of(new_word), *control_));
}

}  // namespace wicprof::collector
