// The program's iterations while it runs, as the events of its waits show them: for a schedule that adapts to them. The
// analyzer finds the exact ones in the trace (analyzer/waits/iterations.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "protocol/events/header.h"
#include "protocol/time.h"

namespace wicprof::cli {

class IterationMeter {
 public:
  /// Until then events pass by unread. Any thread.
  void enable() { enabled_.store(true, std::memory_order_relaxed); }

  /// One event that the program has written. The drain's thread.
  void see(const EventHeader& event) {
    if (enabled_.load(std::memory_order_relaxed)) look_at(event);
  }

  /// Ends a stretch and begins another: returns the durations of the iterations, in ns and in order, that were seen
  /// since the last call, at the place (a site and the waiters of a device) that has the most since the start. An
  /// iteration that was in progress at the last call is left out. Any thread.
  std::vector<TimeNs> take();
  /// The same without ending the stretch.
  std::vector<TimeNs> peek() const;

 private:
  struct Place {
    std::unordered_map<std::uint32_t, std::int64_t> arrivals;  // of the latest iterations
    std::uint32_t newest = 0;
    std::size_t seen = 0;
    std::size_t skip = 0;           // iterations in progress when the stretch began
    std::vector<TimeNs> durations;  // of the stretch
  };

  void look_at(const EventHeader& event);
  void arrive(std::uint64_t key, std::uint32_t iteration, std::int64_t at);
  const Place* busiest() const;

  std::atomic<bool> enabled_{false};
  mutable std::mutex mutex_;  // guards places_
  std::unordered_map<std::uint64_t, Place> places_;
};

}  // namespace wicprof::cli
