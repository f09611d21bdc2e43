// The recorder thread: empties the session's rings into the trace.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/record/iteration_meter.h"
#include "cli/record/triggers.h"
#include "protocol/result.h"
#include "protocol/ring.h"
#include "protocol/session.h"
#include "store/write/recorder.h"

namespace wicprof::cli {

class Drain {
 public:
  /// All arguments must outlive the drain. `own`: wic-prof's own ring (OwnRing), or nullptr. `meter` and
  /// `triggers`, which may be nullptr, see every event.
  /// `each_round`: called on the drain's thread between two rounds, may use the recorder; empty = nothing.
  Drain(const SessionMap& session, const std::string& session_path, store::Recorder& recorder, RingHeader* own,
        IterationMeter& meter, Triggers* triggers, std::function<void()> each_round = {});
  ~Drain();

  /// Starts the thread. Until finish() returns, only that thread may use the recorder.
  void start();

  /// Reads what the rings hold at this moment, and stops the thread. Call after the program has ended; events that its
  /// surviving children write later are not read.
  void finish();

  /// As of the last round. Any thread.
  store::RecorderProgress progress() const;

  /// Why the drain itself ended early (no memory, say); empty while all is well. Call after finish() only.
  const std::string& failure() const { return failure_; }

  /// When the program's wic runtime was first seen; 0 = not yet. Any thread.
  TimeNs attached() const { return attached_.load(std::memory_order_relaxed); }

  /// The mode in force at attached(). Call on the drain's thread, or after finish().
  std::optional<Mode> first_mode() const { return first_mode_; }

 private:
  struct Source {
    RingHeader* ring;
    RingReader reader;
  };

  void work();
  void give_up(const std::exception& e) noexcept;
  std::size_t round(std::size_t max_bytes, bool last);
  std::size_t read(std::size_t index, std::size_t max_bytes);
  /// `last`: looks at once, though quickly.
  void reclaim(bool last);
  std::size_t pieces() const;
  void take_back(std::size_t piece, OwnerLook look);

  const SessionMap& session_;
  std::string session_path_;
  store::Recorder& recorder_;
  IterationMeter& meter_;
  Triggers* const triggers_;
  std::function<void()> each_round_;
  std::size_t used_ = 0;                       // rings that a producer had
  std::vector<Source> rings_;                  // the session's, then wic-prof's own
  TimeNs checked_ns_ = 0, turn_began_ns_ = 0;  // last checks of the owners
  std::size_t next_closely_ = 0;               // the first piece that this turn of close looks has not come to
  std::uint32_t rings_wanted_ = 0;             // at the last check
  std::int64_t ended_unwritten_ = 0;           // processes that ended with records that they had yet to write
  std::atomic<bool> stop_{false};
  std::atomic<TimeNs> attached_{0};
  std::optional<Mode> first_mode_;
  std::string failure_;
  mutable std::mutex mutex_;  // guards progress_
  store::RecorderProgress progress_;
  std::thread thread_;
};

}  // namespace wicprof::cli
