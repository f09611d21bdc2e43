#include "collector/rewrite/toggle_loop.h"

#include <pthread.h>

#include <utility>

#include "collector/program/own_thread.h"
#include "collector/rewrite/own_code.h"
#include "protocol/notice.h"

namespace wicprof::collector {

namespace {

// How often the threads read waits, and look for new words. A ring of 16,384 records has room for the waits of 10 ms of
// a chain of 132 blocks on an H200, which record 1.8 million per second.
constexpr TimeNs kReadInterval = 5 * kMillisecond;
constexpr TimeNs kClockInterval = 500 * kMillisecond;
// A copy takes some 20 us.
constexpr TimeNs kCountsInterval = 500 * kMillisecond, kCountsPatience = 2 * kMillisecond;

}  // namespace

void ToggleLoop::begin(const RewriteDriver& driver, EventSink& sink) {
  const std::lock_guard lock(mutex_);
  if (member_ || stopped_ || control_ == nullptr) return;
  driver_ = &driver;
  sink_ = &sink;
  member_.emplace(*control_, control_, static_cast<Applier&>(*this));
  member_->join();
  modules_.follow_session();  // what has been wanted since the modules came
  if (!driver_thread_.start("wicprof-words", std::chrono::milliseconds(kReadInterval / kMillisecond),
                            [this] { use_driver(); })) {
    write_notice(NoticeSeverity::warning,
                 refused_thread("who writes the words of patched loops is not seen, and short waits count at the end"));
  }
  const auto start = [](auto run) { return start_own_thread(std::move(run)); };
  if (member_->begin(start, [] { pthread_setname_np(pthread_self(), "wicprof-loops"); })) return;
  modules_.recorder_gone(true);  // nobody would notice
  modules_.follow_session();
  write_notice(NoticeSeverity::warning,
               refused_thread("patched loops keep the program's own way of waiting, and their waits are read at the "
                              "end, as far as the ring still holds them"));
}

bool ToggleLoop::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (member_) member_->leave();
  return driver_thread_.stop(kDriverPatience);
}

Applier::Site ToggleLoop::site(std::size_t index) const {
  return {PatchedModules::kFirstSite + static_cast<SiteId>(index), modules_.session_number(index)};
}

// Whatever strategy is asked for: each patched loop has one.
WantedWait ToggleLoop::way(WantedWait wanted) const { return {wanted.mode, default_strategy(wanted.mode)}; }

WantedWait ToggleLoop::way(WantedWait wanted, const Site& site) const {
  return wanted.mode == Mode::poll ? way(wanted)
                                   : WantedWait{Mode::park, modules_.strategy(site.id - PatchedModules::kFirstSite)};
}

void ToggleLoop::write_notice(NoticeSeverity severity, const std::string& text) {
  wicprof::write_notice(*sink_, severity, text);
}

TimeNs ToggleLoop::between_looks() {
  // A ring of a module that is bound meanwhile is full before a longer sleep is over.
  reads_waits_ = modules_.read_waits(*sink_);
  if (reads_waits_) modules_.show_waits();
  return kReadInterval;
}

void ToggleLoop::use_driver() {
  modules_.take_clocks(*sink_);
  if (!reads_waits_) return;
  modules_.look_at_words(driver_, *sink_);
  if (now_ns() >= next_clock_) {
    const OwnCode own(*driver_);
    modules_.request_clocks(*driver_);
    next_clock_ = now_ns() + kClockInterval;
  }
  if (now_ns() >= next_counts_ || modules_.counts_are_due()) {
    const OwnCode own(*driver_);
    modules_.read_counts(*driver_, *sink_, kCountsPatience);
    next_counts_ = now_ns() + kCountsInterval;
  }
}

}  // namespace wicprof::collector
