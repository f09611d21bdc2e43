// The recorder thread: empties the session's rings into the trace.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "protocol/result.h"
#include "protocol/session.h"
#include "store/recorder.h"

namespace wicprof::cli {

class Drain {
 public:
  /// Both must outlive it. From here to finish() the recorder belongs to the drain's thread.
  Drain(const SessionMap& session, store::Recorder& recorder);
  ~Drain();

  /// Once the program has ended: reads what its rings held at that moment, and stops. A child that the program left
  /// behind may go on writing; that is not waited for.
  void finish();

  /// As of the last round. Any thread.
  store::RecorderProgress progress() const;

  /// When the program's wic runtime was first seen; 0 = not yet. Any thread.
  TimeNs attached() const { return attached_.load(std::memory_order_relaxed); }

  /// The mode in force then. Once finished.
  std::optional<Mode> first_mode() const { return first_mode_; }

 private:
  void work();
  std::size_t round(std::size_t max_bytes);

  const SessionMap& session_;
  store::Recorder& recorder_;
  std::vector<RingReader> rings_;
  std::atomic<bool> stop_{false};
  std::atomic<TimeNs> attached_{0};
  std::optional<Mode> first_mode_;
  mutable std::mutex mutex_;  // guards progress_
  store::RecorderProgress progress_;
  std::thread thread_;
};

}  // namespace wicprof::cli
