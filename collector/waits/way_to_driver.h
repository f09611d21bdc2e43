// A call's way from the end of its callback until it has reached its wait in the driver. No callback reports that, so
// other threads see it by the thread: it has computed for long enough since, or it sleeps for something else than a
// lock.
#pragma once

#include <ctime>

#include <atomic>
#include <cstdint>

#include "protocol/time.h"

namespace wicprof::collector {

/// The first three are the calling thread's; the rest is any thread's.
class WayToDriver {
 public:
  /// The thread is still in the callback.
  void begins() { state_.store(State::in_callback); }
  /// The thread is about to return to the driver. Takes 0.3 us.
  void leaves_callback();
  /// The call has returned.
  void ends() { state_.store(State::over); }

  bool begun() const { return state_.load() != State::none; }
  /// True also where nobody can tell, as without /proc.
  bool reached_driver() const;

 private:
  enum class State : std::uint8_t { none, in_callback, on_its_way, over };
  std::atomic<State> state_{State::none};
  clockid_t clock_{};    // of the thread's CPU time
  TimeNs computed_ = 0;  // until it left the callback
  TimeNs left_ = 0;      // when it did
  std::int32_t thread_ = 0;
};

}  // namespace wicprof::collector
