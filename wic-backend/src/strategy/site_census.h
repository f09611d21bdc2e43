// Figures of the waits at each site: how many wait on one word, for how long, and how long a look at the word takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/control.h"
#include "protocol/events/wait.h"
#include "protocol/time.h"

namespace wic {

/// The figures of one window of waits at a site, all under one strategy.
struct SiteObservation {
  wicprof::StrategyId strategy = wicprof::StrategyId::poll;
  std::uint32_t waits = 0;             ///< in the window
  std::uint32_t waiters_per_word = 0;  ///< most simultaneous waiters on one word of one device; 0 = words not known
  std::uint32_t waiters = 0;           ///< most simultaneous waiters on one device, on any words
  std::uint32_t words = 0;             ///< distinct words; 0 = not known
  bool each_thread = false;            ///< in most waits every thread polls in the program's own way
  std::uint32_t warps = 0;             ///< of a waiting group, median; 0 = not known
  wicprof::TimeNs median_ns = 0;       ///< length of a wait; 0 for a wait whose word was ready at the first look
  /// Duration of one look at the word by a waiter that only looks. Measured in this window or an earlier one, since a
  /// strategy that sleeps, or reads a copy, does not show it.
  std::optional<wicprof::TimeNs> look_ns;
};

/// Pure: no clock, no device. One thread.
class SiteCensus {
 public:
  static constexpr std::uint32_t kFewestWaits = 64;
  static constexpr wicprof::TimeNs kShortestWindow = 50 * wicprof::kMillisecond;
  static constexpr std::size_t kMaxKeptWaits = 4096;  ///< waits per window; beyond that, a sample of moments

  SiteCensus();

  /// Adds a wait, in any order of time; `now_ns` on the host's clock. Ignores invalid sites and waits that were not
  /// satisfied.
  void add(const wicprof::WaitEvent& wait, wicprof::TimeNs now_ns);

  /// Returns the window at the site and begins the next, once it holds kFewestWaits and is kShortestWindow old.
  std::optional<SiteObservation> take(wicprof::SiteId site, wicprof::TimeNs now_ns);

  /// Discards the current window.
  void restart(wicprof::SiteId site);

 private:
  struct Wait {
    std::uint64_t arrived, resumed;
    std::uint32_t polls;
    wicprof::DeviceId device;
    wicprof::WordTag word;
    std::uint8_t warps;
    bool each_thread;
    bool waited;
  };
  struct Window {
    wicprof::TimeNs begin = 0;
    wicprof::StrategyId strategy = wicprof::StrategyId::poll;
    std::uint32_t sample_mask = 0;
    std::vector<Wait> waits;
    std::optional<wicprof::TimeNs> look_ns;  // outlives the window
  };

  static void thin_out(Window& window);
  static SiteObservation observe(Window& window);

  std::vector<Window> sites_;  // by SiteId
};

}  // namespace wic
