// Enables the sources only while the tool wants a recording (ControlBlock::capturing).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

#include "protocol/control.h"

namespace wicprof::collector {

/// Must outlive its thread: never destroy it while the thread may run.
class CaptureSwitch {
 public:
  /// `control`: the session's; nullptr: always on.
  explicit CaptureSwitch(const ControlBlock* control) : control_(control) {}

  /// Calls change(true) at once if recording is on. Call once.
  void begin(std::function<void(bool)> change);

  /// Starts the thread that follows the word, if the tool has announced changes; the thread sleeps on the word. Any
  /// thread, any number of times, but not within cuInit().
  void follow();

  /// Prevents further changes; waits up to `timeout` for a change in progress. False: the change is still running.
  bool stop(std::chrono::milliseconds timeout);

 private:
  void set(bool on);
  void run();

  const ControlBlock* control_;
  std::function<void(bool)> change_;
  std::mutex mutex_;  // guards on_ and stop_, and serializes changes
  bool on_ = false;
  bool stop_ = false;
  std::atomic<bool> following_{false};
};

}  // namespace wicprof::collector
