// The recorder thread: empties the session's rings into the trace.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "protocol/result.h"
#include "protocol/ring.h"
#include "protocol/session.h"
#include "store/write/recorder.h"

namespace wicprof::cli {

class Drain {
 public:
  /// All must outlive it. `own`: a ring of the tool's, in its own memory; may be nullptr.
  Drain(const SessionMap& session, const std::string& session_path, store::Recorder& recorder, RingHeader* own);
  ~Drain();

  /// From here to finish() the recorder belongs to the drain's thread.
  void start();

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
  struct Source {
    RingHeader* ring;
    RingReader reader;
  };

  void work();
  std::size_t round(std::size_t max_bytes);
  std::size_t read(std::size_t index, std::size_t max_bytes);
  void look_at_owners();

  const SessionMap& session_;
  std::string session_path_;
  store::Recorder& recorder_;
  std::vector<Source> rings_;                  // the session's, then the tool's own
  TimeNs looked_ = 0, looked_thoroughly_ = 0;  // at the owners
  std::uint32_t rings_wanted_ = 0;             // as of then
  std::atomic<bool> stop_{false};
  std::atomic<TimeNs> attached_{0};
  std::optional<Mode> first_mode_;
  mutable std::mutex mutex_;  // guards progress_
  store::RecorderProgress progress_;
  std::thread thread_;
};

}  // namespace wicprof::cli
