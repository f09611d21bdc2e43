// Wait sites of host threads: each NVTX range in which a call of CUDA waits, and each place in the program from which
// one waits outside of all ranges.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "collector/waits/range_names.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "protocol/events/site.h"

namespace wicprof::collector {

/// A wait's site, and how often the calling thread has waited there before.
struct PlaceOfWait {
  SiteId site = 0;  ///< 0: not known
  std::uint32_t iteration = 0;
};

/// Any thread. A place that a thread has seen before takes no lock.
class WaitSites {
 public:
  /// Numbers start behind those of the sites that the program declares, which have their own ring and numbers.
  static constexpr SiteId kFirst = kMaxSites;
  /// The session's table has kMaxSites places, also for the program's own sites. Waits elsewhere have no site.
  static constexpr SiteId kMost = kMaxSites / 2;
  /// A program that gives each iteration a range with a name of its own leaves room for places. Not calibrated.
  static constexpr SiteId kMostRanges = kMost / 2;

  /// `control`: the session's, in which toggles find the sites by name; nullptr: none.
  explicit WaitSites(ControlBlock* control) : control_(control) {}
  WaitSites(const WaitSites&) = delete;
  WaitSites& operator=(const WaitSites&) = delete;

  /// Whether the thread has waited at that place in call `number` before.
  bool known(std::uint32_t number, const void* caller) const;

  /// The place, which is declared to the trace first if it is new. `call`: the call's name. `caller`: the address to
  /// which it returns; nullptr: not known.
  PlaceOfWait enter(std::uint32_t number, std::string_view call, const void* caller, EventSink& sink);

  /// The same for a wait within an NVTX range, wherever the call stands. Nothing for a further range once kMostRanges
  /// sites have the names of ranges: its waits are those of their place.
  std::optional<PlaceOfWait> enter(std::uint32_t number, std::string_view call, const RangeName& range,
                                   EventSink& sink);

  /// The number of a site in the session's table; 0: none.
  std::uint32_t session_number(SiteId site) const;

 private:
  SiteId declare_place(std::uint64_t key, std::string_view call, const void* caller, EventSink& sink);
  SiteId declare_range(std::uint64_t key, std::string_view call, const RangeName& range, EventSink& sink);
  /// Under the lock. `place`: for the trace.
  SiteId declare(std::uint64_t key, const std::string& name, std::string_view place, EventSink& sink);

  ControlBlock* control_;
  std::mutex mutex_;
  // By number of the call, and caller or range. 0: the table is full.
  std::unordered_map<std::uint64_t, SiteId> sites_;
  std::unordered_set<std::string> names_;
  SiteId next_ = kFirst, ranges_ = 0;
  std::array<std::atomic<std::uint32_t>, kMost> session_numbers_{};
};

}  // namespace wicprof::collector
