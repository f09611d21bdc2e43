// What the waits at each site look like: how many wait on one word, for how long, how long a look at the word takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/control.h"
#include "protocol/events/wait.h"
#include "protocol/time.h"

namespace wic {

/// The waits of one window at a site, which all waited by one strategy.
struct SiteObservation {
  wicprof::StrategyId strategy = wicprof::StrategyId::poll;
  std::uint32_t waits = 0;  ///< that the figures are from
  std::uint32_t waiters_a_word =
      0;                          ///< the most that waited on one word of one device at once; 0 = words not told apart
  std::uint32_t waiters = 0;      ///< the most that waited at once on one device, on whatever words
  std::uint32_t words = 0;        ///< distinct ones; 0 = not told apart
  bool each_thread = false;       ///< in most waits every thread polls in the program's own way
  std::uint32_t warps = 0;        ///< of a waiting group, as a rule; 0 = not known
  wicprof::TimeNs median_ns = 0;  ///< a wait's length; one that found its word released at the first look counts as 0
  /// One look at the word by a waiter that does nothing but look, last measured in this window or an earlier one: a
  /// strategy that sleeps, or reads a mirror, does not show it.
  std::optional<wicprof::TimeNs> look_ns;
};

/// Pure: no clock, no device. One thread.
class SiteCensus {
 public:
  static constexpr std::uint32_t kFewestWaits = 64;
  static constexpr wicprof::TimeNs kShortestWindow = 50 * wicprof::kMillisecond;
  static constexpr std::size_t kMostKept = 4096;  ///< waits of a window; of more, a sample of moments is kept

  SiteCensus();

  /// A wait as its record came, in any order of time; `now_ns` on the host's clock. What belongs to no window is left
  /// out: sites that cannot be, waits whose deadline passed.
  void add(const wicprof::WaitEvent& wait, wicprof::TimeNs now_ns);

  /// The window at the site, once it holds kFewestWaits and is kShortestWindow old; the next one begins then.
  std::optional<SiteObservation> take(wicprof::SiteId site, wicprof::TimeNs now_ns);

  /// Forgets the window that has begun.
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
