// Moves the records of kernels to the trace, and lets `auto` choose by what they show.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "src/records/record_drain.h"
#include "src/runtime/clock_readings.h"
#include "src/runtime/device_memory.h"
#include "src/runtime/guarded.h"
#include "src/runtime/open_waits.h"
#include "src/runtime/trace_link.h"
#include "src/strategy/site_census.h"
#include "src/strategy/strategy_board.h"

namespace wic {

/// Any thread. Takes the board's lock while it holds its own.
class DrainLoop {
 public:
  /// `devices`: all of the runtime; they do not change. `observe_one_in`: a power of two, or 0, as in RuntimeOptions.
  DrainLoop(const std::vector<DeviceMemory>& devices, StrategyBoard& board, TraceLink& trace,
            std::uint32_t observe_one_in);
  DrainLoop(const DrainLoop&) = delete;
  /// Ends the thread. Writes the last records to the trace, and a loss for records that were never finished.
  ~DrainLoop();

  /// With a trace: starts the thread, which also takes the clock readings.
  void start(ClockReadings clocks);
  /// Without a trace: starts the thread once any site is on `auto`. The thread then stays.
  void observe_if_automatic();

  /// The waits that last, which the drain keeps in the session's table.
  OpenWaits& open_waits() { return open_waits_; }

  /// Moves all records that kernels have written so far.
  void drain();
  /// Whether the records of kernels that start now are used.
  bool uses_records() const;
  /// DeviceView::record_sample_mask for kernels that start now.
  std::uint32_t sample_mask() const;

 private:
  struct Ring {
    const DeviceMemory* memory;
    RecordDrain records;
    std::uint64_t reported_lost = 0;
  };
  struct Records {
    std::vector<Ring> rings;  // empty where devices keep no records
    SiteCensus census;
  };

  void run(ClockReadings* clocks);
  bool stopped_within(std::chrono::milliseconds interval);
  void drain(Records& records);
  void drain(Ring& ring, SiteCensus& census, TimeNs now);
  void choose(SiteCensus& census);
  void close_rings();

  const std::vector<DeviceMemory>& devices_;
  StrategyBoard& board_;
  TraceLink& trace_;
  const std::uint32_t observe_one_in_;
  std::atomic<bool> observing_{false};  // the census gets the records, or a sample of them
  OpenWaits open_waits_;                // before records_, under whose lock it is used
  Guarded<Records> records_;

  std::mutex stop_mutex_;
  bool stop_ = false;  // under stop_mutex_
  std::condition_variable stopping_;
  std::thread thread_;
};

}  // namespace wic
