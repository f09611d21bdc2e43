// Numbers the waiter and the iteration of each wait, computed once and shared by all analyses.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/measure/flat_index.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/trace/wait_view.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// A group of threads of a block, or a host thread.
struct Waiter {
  DeviceId device = kHostDevice;
  std::uint32_t block = 0, warp = 0;  ///< for a host thread: its thread id, and 0
  std::uint32_t sm = 0;               ///< the SM of its first wait
};

/// One iteration at one site by the waiters of one device. Times are those of its waits.
struct IterationSlot {
  SiteId site = 0;
  DeviceId device = kHostDevice;
  std::uint32_t run = 0, number = 0;  ///< as in Iteration
  std::uint32_t waits = 0;
  TimeNs first_arrival = 0, last_arrival = 0, last_resumption = 0;
};

/// The model must be settled. Linear in the number of waits.
class Waiters {
 public:
  explicit Waiters(const TraceModel& model);

  /// Host waits that do not count at a site (counts()) have neither waiter nor slot.
  static constexpr std::uint32_t kNone = FlatIndex::kNone;

  /// Whether a host wait counts as a wait at its site, in the statistics and iterations of sites: always where the
  /// program declares the site. Where the site is the caller of a CUDA call, only in a trace without waits at declared
  /// sites, since those are what such a program is about.
  bool counts(const WaitView& wait) const { return !wait.host || (wait.site != 0 && (calls_count_ || !wait.in_call)); }

  const std::vector<Waiter>& list() const { return waiters_; }
  /// The waiter's index in list(), by index into TraceModel::waits.
  std::uint32_t of_wait(std::size_t wait) const { return of_[false][wait]; }
  std::uint32_t of(const WaitView& wait) const { return of_[wait.host][wait.index]; }
  /// kNone for a waiter without waits.
  std::uint32_t find(DeviceId device, std::uint32_t block, std::uint32_t warp) const;
  /// Indexes of a waiter's waits in order of arrival: into TraceModel::waits, or host_waits for a host thread.
  struct Range {
    const std::uint32_t* first = nullptr;
    const std::uint32_t* last = nullptr;
    const std::uint32_t* begin() const { return first; }
    const std::uint32_t* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  Range waits_of(std::uint32_t waiter) const;

  const std::deque<IterationSlot>& slots() const { return slots_; }
  std::uint32_t slot_of_wait(std::size_t wait) const { return slot_of_[false][wait]; }
  std::uint32_t slot_of(const WaitView& wait) const { return slot_of_[wait.host][wait.index]; }

 private:
  void number_waiters(const TraceModel& model);
  void list_waits();
  void number_iterations(const TraceModel& model);

  bool calls_count_ = false;
  FlatIndex index_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> of_[2], slot_of_[2];  // by WaitView::host and index
  std::vector<std::uint32_t> first_of_, waits_;
  std::deque<IterationSlot> slots_;  // grows without a second copy
};

}  // namespace wicprof::analyzer
