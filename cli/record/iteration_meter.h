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
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::cli {

class IterationMeter {
 public:
  /// Until then events pass by unread. `side`: for host threads that wait in calls of CUDA, NVTX ranges and launches of
  /// kernels count, too, since a step of the program may have many such waits. Any thread.
  void enable(WaitSide side) {
    for_hosts_.store(side == WaitSide::host, std::memory_order_relaxed);
    enabled_.store(true, std::memory_order_relaxed);
  }

  /// One event that the program has written. The drain's thread.
  void see(const EventHeader& event) {
    if (enabled_.load(std::memory_order_relaxed)) look_at(event);
  }

  /// Ends a stretch and begins another: returns the durations of the iterations, in ns and in order, that were seen
  /// since the last call, at the place (a site and the waiters of a device) that has the most since the start. For
  /// host threads, as analyzer/compare/timed_units.h: wait sites that the program declares and that count its
  /// iterations, else the NVTX ranges that took the longest, else the kernel with the fewest launches, if they repeat;
  /// what the first call finds stays. An iteration that was in progress at the last call is left out. Any thread.
  std::vector<TimeNs> take();
  /// The same without ending the stretch.
  std::vector<TimeNs> peek() const;
  /// Whether a wait at a site that the program declares has ended. Any thread.
  bool sees_sites() const;

 private:
  struct Place {
    std::unordered_map<std::uint32_t, std::int64_t> arrivals;  // of the latest iterations
    std::uint32_t newest = 0;
    std::size_t seen = 0;
    std::int64_t taken = 0;         // by the ranges that were seen, in ns; 0: no range
    std::int64_t last = 0;          // start of a kernel; 0: no kernel
    bool declared = false;          // by the program
    std::size_t skip = 0;           // iterations in progress when the stretch began
    std::vector<TimeNs> durations;  // of the stretch
  };

  void look_at(const EventHeader& event);
  void arrive(std::uint64_t key, bool declared, std::uint32_t iteration, std::int64_t at);
  Place* place_of(std::uint64_t key);  // nullptr: too many
  void add_range(const NvtxEvent& range);
  void add_launch(const KernelEvent& kernel);
  bool better(const Place& a, const Place& b) const;
  const Place* busiest() const;
  bool is_wanted(const Place& place) const { return chosen_ == nullptr || chosen_ == &place; }

  std::atomic<bool> enabled_{false}, for_hosts_{false};
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::uint64_t, Place> places_;
  const Place* chosen_ = nullptr;  // an element of places_, which do not move
  std::int64_t since_ = 0;         // the stretch
};

}  // namespace wicprof::cli
