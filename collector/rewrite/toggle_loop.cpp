#include "collector/rewrite/toggle_loop.h"

#include <pthread.h>

#include "collector/program/notice.h"
#include "collector/program/own_thread.h"
#include "collector/rewrite/own_code.h"
#include "collector/waits/intervention.h"

namespace wicprof::collector {

namespace {

// How often the thread looks without being woken. A ring of 16,384 records has room for the waits of 10 ms of a chain
// of 132 blocks on an H200, which record 1.8 million per second.
constexpr TimeNs kReadInterval = 5 * kMillisecond, kIdleInterval = 200 * kMillisecond;
constexpr TimeNs kClockInterval = 500 * kMillisecond;

Mode mode_of(std::uint32_t word) { return word == WantedWait::kNothing ? Mode::poll : WantedWait::unpack(word).mode; }

// Whatever strategy is asked for: patched loops have one.
StrategyId strategy_of(std::uint32_t word) {
  return mode_of(word) == Mode::park ? StrategyId::backoff : StrategyId::poll;
}

}  // namespace

void ToggleLoop::begin(const RewriteDriver& driver, EventSink& sink) {
  const std::lock_guard lock(mutex_);
  if (begun_ || stopped_ || control_ == nullptr) return;
  begun_ = true;
  driver_ = &driver;
  sink_ = &sink;
  const std::uint32_t sequence = control_->sequence.load(std::memory_order_acquire);
  program_ = control_->wanted.load(std::memory_order_relaxed);  // before the thread runs: a toggle may come first
  modules_.follow_session();
  place_ = join_runtime(*control_, control_, sequence);
  if (place_ == nullptr) return;  // the session has too many runtimes
  thread_ = start_own_thread([this, sequence] { run(sequence); });
  if (thread_.joinable()) return;
  leave_runtime(*control_, *place_);
  write_notice(sink, NoticeSeverity::warning,
               refused_thread("patched loops keep the way of waiting that they have now, and their waits are read at "
                              "the end, as far as the ring still holds them"));
}

void ToggleLoop::run(std::uint32_t sequence) {
  pthread_setname_np(pthread_self(), "wicprof-loops");
  const OwnCode own;
  TimeNs next_clock = 0;
  bool reads = true;  // a module has just been loaded
  while (!stopped_.load()) {
    futex_wait(control_->sequence, sequence, reads ? kReadInterval : kIdleInterval);
    if (const std::uint32_t now = control_->sequence.load(std::memory_order_acquire); now != sequence) {
      follow(now);
      sequence = now;
    }
    modules_.take_clocks(*sink_);
    reads = modules_.read_waits(*sink_);
    if (reads) modules_.look_at_words(driver_, *sink_);
    if (!reads) continue;
    if (now_ns() < next_clock) continue;
    modules_.request_clocks(*driver_);
    next_clock = now_ns() + kClockInterval;
  }
}

void ToggleLoop::follow(std::uint32_t sequence) {
  const std::uint32_t wanted = control_->wanted.load(std::memory_order_relaxed);
  modules_.follow_session();
  if (mode_of(wanted) != mode_of(program_)) report(program_, wanted, sequence);
  program_ = wanted;
  report_applied(*control_, *place_, sequence);
}

void ToggleLoop::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (!thread_.joinable()) return;
  futex_wake_all(control_->sequence);
  thread_.join();
  leave_runtime(*control_, *place_);
}

void ToggleLoop::report(std::uint32_t old_word, std::uint32_t new_word, std::uint32_t sequence) {
  sink_->write_or_hold(intervention({WaitSide::device, 0, sequence}, {mode_of(old_word), strategy_of(old_word)},
                                    {mode_of(new_word), strategy_of(new_word)}, *control_));
}

}  // namespace wicprof::collector
