// Chooses the strategy that `auto` uses at a site: from the observed waits, and until there are any from the
// declaration.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "protocol/events/device.h"
#include "protocol/strategy.h"
#include "protocol/time.h"
#include "src/strategy/site_census.h"
#include "wic/runtime.h"

namespace wic {

// From how many simultaneous readers of one word on a watcher reads it for all. All measured on an H200.

/// 528 pollers of a word in pinned host memory slow streaming 9.5 times; in proportion 8 cost 0.13, the smallest cost
/// that a comparison clearly resolves. The analyzer's rule hot_word starts at the same number. Managed memory may be in
/// host memory.
inline constexpr std::uint32_t kHostWordReaders = 8;
/// 528 pollers of a word in the memory of another GPU slow work that reads over the same links 1.05 times.
inline constexpr std::uint32_t kPeerWordReaders = 200;
/// For a word in unknown memory whose looks take long. If the word is near after all, a watcher costs nothing (1.00).
inline constexpr std::uint32_t kDistantWordReaders = 32;
/// 528 pollers of a word in device memory cost nothing (1.00), 2,096 cost L2-bound work 1.04.
inline constexpr std::uint32_t kDeviceWordReaders = 1'000;

/// Up to so many groups of one warp poll words in device memory without naps: parking them parks no other warp. With
/// one such group on each of an H200's 132 SMs, naps save the work beside them nothing (bench_tiles, rows neighbour_*).
/// Four per SM slow work that is bound by shared memory 1.04 times, and leaders with naps 1.004 times
/// (bench_interference).
inline constexpr std::uint32_t kLoneWarps = 132;

/// Shorter waits keep polling. At a hot word in host memory, and where every thread polls, even the shortest waits of
/// bench/break_even.cpp gain by parking: polling costs the others more than the later wake-up.
inline constexpr wicprof::TimeNs kBreakEvenNs = 500;
/// A look at a word in device memory takes less time, a look across a bus or a link more.
inline constexpr wicprof::TimeNs kSlowLookNs = 1'100;

struct AutomaticLimits {
  wicprof::TimeNs break_even_ns = kBreakEvenNs;
  wicprof::TimeNs slow_look_ns = kSlowLookNs;
  std::uint32_t lone_warps = kLoneWarps;

  /// A polling site starts to park from this length on; a parking site starts to poll below break_even_ns. Two limits,
  /// because the wake-up makes a parked wait measure longer than a polled one.
  wicprof::TimeNs park_from_ns() const { return break_even_ns + break_even_ns / 2; }

  /// On the CPU device a turn takes some 20 times as long as a GPU instruction, so parking pays off for waits that are
  /// that much longer. A look is slow there in any memory, since all pollers take turns, those of one warp included.
  static AutomaticLimits of(wicprof::DeviceKind kind);
};

struct Choice {
  wicprof::StrategyId strategy = wicprof::StrategyId::poll;
  std::string reason;    ///< one sentence for people, with the deciding figures
  SiteObservation seen;  ///< the basis of the choice; waits 0: the site's declaration
};

/// From the declaration alone.
Choice choose(const SiteSpec& spec, const AutomaticLimits& limits);

/// From what was seen while `auto` used strategy `now`. A declared word memory overrides what looks suggest.
Choice choose(const SiteSpec& spec, const SiteObservation& seen, wicprof::StrategyId now,
              const AutomaticLimits& limits);

/// The choice of `auto` at one site over time. Changes only after several consecutive windows agree: two at first,
/// twice as many after every return to an earlier strategy, so that an oscillating site settles.
class SiteChooser {
 public:
  static constexpr std::uint32_t kAgreeing = 2;
  static constexpr std::uint32_t kMaxReturns = 5;  ///< the most that count: 64 windows, at least three seconds
  static constexpr std::uint32_t kForgetsAfter =
      64;  ///< consecutive windows without a reason to change undo one return

  SiteChooser(SiteSpec spec, AutomaticLimits limits);

  const SiteSpec& spec() const { return spec_; }
  const Choice& now() const { return now_; }

  /// True when now() is another strategy, or when observations confirm the choice from the declaration.
  bool see(const SiteObservation& seen);

 private:
  SiteSpec spec_;
  AutomaticLimits limits_;
  Choice now_;
  wicprof::StrategyId candidate_;
  std::uint32_t agreeing_ = 0;  // consecutive windows in favour of the candidate
  std::uint32_t returns_ = 0;
  std::array<bool, 256> chosen_before_{};
};

}  // namespace wic
