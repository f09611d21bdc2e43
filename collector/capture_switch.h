// Enables the sources only while the tool wants a recording (ControlBlock::capturing).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

#include "protocol/control.h"

namespace wicprof::collector {

/// Must outlive its thread: destroy it only after follow() was never called, or after running() is false.
class CaptureSwitch {
 public:
  /// `control`: the session's; nullptr: always on.
  explicit CaptureSwitch(const ControlBlock* control) : control_(control) {}

  /// Calls change(true) at once if recording is on. Call once.
  void begin(std::function<void(bool)> change);

  /// Starts the thread that follows the word, if the tool has announced changes; the thread sleeps on the word. Any
  /// thread, any number of times, but not within cuInit().
  void follow();

  /// Follows the word once: without the thread, a change is seen late. Not within cuInit().
  void look();

  /// Prevents further changes and ends the thread; waits up to `timeout` for both. False: a change or the thread still
  /// runs.
  bool stop(std::chrono::milliseconds timeout);

  /// Whether the thread runs.
  bool running() const { return running_; }

 private:
  void set(bool on);
  void run();

  const ControlBlock* control_;
  std::function<void(bool)> change_;
  std::mutex mutex_;  // guards on_ and stop_, and serializes changes
  bool on_ = false;
  bool stop_ = false;
  std::atomic<bool> following_{false};
  std::atomic<bool> running_{false};  // the thread
};

}  // namespace wicprof::collector
