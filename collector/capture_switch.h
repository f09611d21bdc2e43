// Follows the tool's word on when to record (ControlBlock::capturing): the sources are enabled only then.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

#include "protocol/control.h"

namespace wicprof::collector {

/// Outlives its thread: never destroyed while that may run.
class CaptureSwitch {
 public:
  /// `control` nullptr: always on.
  explicit CaptureSwitch(const ControlBlock* control) : control_(control) {}

  /// Calls change(true) now if recording is on. Once.
  void begin(std::function<void(bool)> change);

  /// Starts the thread that follows, where the tool has said that there will be something to follow. Not within
  /// cuInit(). Any thread, any number of times. The thread sleeps on the word.
  void follow();

  /// No change from here on; waits up to `patience` for one that is under way. False: it still is.
  bool stop(std::chrono::milliseconds patience);

 private:
  void set(bool on);
  void run();

  const ControlBlock* control_;
  std::function<void(bool)> change_;
  std::mutex mutex_;  // guards what follows, and one change at a time
  bool on_ = false;
  bool stop_ = false;
  std::atomic<bool> following_{false};
};

}  // namespace wicprof::collector
