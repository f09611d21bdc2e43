// Which strategy `auto` means at a site: by what was seen there, and until then by the site's declaration.
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

// How many at once on one word are many: from there on one watcher reads it for all. All measured on an H200.

/// 528 pollers of a word in pinned host memory slow streaming 9.5 times; in proportion 8 cost 0.13, the least that is
/// well above what a comparison can tell. The analyzer's hot_word speaks up from there on, too. Managed memory may lie
/// there.
inline constexpr std::uint32_t kHostWordReaders = 8;
/// 528 pollers of a word in the memory of another GPU slow work that reads over the same links 1.05 times.
inline constexpr std::uint32_t kPeerWordReaders = 200;
/// Where it is not known where the word lies, but looks at it take long. A watcher costs nothing (1.00) where it lies
/// near after all.
inline constexpr std::uint32_t kDistantWordReaders = 32;
/// 528 pollers of a word in device memory cost nothing (1.00), 2,096 cost L2-bound work 1.04.
inline constexpr std::uint32_t kDeviceWordReaders = 1'000;

/// Waits shorter than this go on polling. The shortest waits that bench/break_even.cpp makes gain by parking already,
/// at a hot word in host memory and where every thread polls: what polling costs the others outweighs the later
/// wake-up.
inline constexpr wicprof::TimeNs kBreakEvenNs = 500;
/// A look at a word in device memory takes less, one over a bus or a link more.
inline constexpr wicprof::TimeNs kSlowLookNs = 1'100;

struct AutomaticLimits {
  wicprof::TimeNs break_even_ns = kBreakEvenNs;
  wicprof::TimeNs slow_look_ns = kSlowLookNs;

  /// A site that polls parks from here on; one that parks polls below break_even_ns. Two limits, since a parked wait
  /// measures longer than a polled one, by its wake-up.
  wicprof::TimeNs park_from_ns() const { return break_even_ns + break_even_ns / 2; }

  /// On the CPU device a turn takes some 20 times as long as an instruction of a GPU, so parking pays for waits that
  /// are that much longer. A look is slow there wherever the word lies, since all who look take turns.
  static AutomaticLimits of(wicprof::DeviceKind kind);
};

struct Choice {
  wicprof::StrategyId strategy = wicprof::StrategyId::poll;
  std::string reason;    ///< for people, with the figures that decided
  SiteObservation seen;  ///< what it was chosen from; waits 0: the site's declaration
};

/// By the declaration alone.
Choice choose(const SiteSpec& spec);

/// By what was seen while `now` was what `auto` stood for. Where the declaration says where the word lies, that counts.
Choice choose(const SiteSpec& spec, const SiteObservation& seen, wicprof::StrategyId now,
              const AutomaticLimits& limits);

/// What `auto` stands for at one site over time. Changes only when window after window speaks for the same: two at
/// first, twice as many after every return to a strategy that it had left, so that a site that goes to and fro comes to
/// rest.
class SiteChooser {
 public:
  static constexpr std::uint32_t kAgreeing = 2;
  static constexpr std::uint32_t kMostReturns = 5;  ///< that count: 64 windows, three seconds at least
  static constexpr std::uint32_t kForgetsAfter =
      64;  ///< windows in a row without a reason to change: a return is forgotten

  SiteChooser(SiteSpec spec, AutomaticLimits limits);

  const SiteSpec& spec() const { return spec_; }
  const Choice& now() const { return now_; }

  /// True when now() is another strategy, or the declaration's choice has been borne out by what was seen.
  bool see(const SiteObservation& seen);

 private:
  SiteSpec spec_;
  AutomaticLimits limits_;
  Choice now_;
  wicprof::StrategyId candidate_;
  std::uint32_t agreeing_ = 0;  // windows in a row that speak for the candidate
  std::uint32_t returns_ = 0;
  std::array<bool, 256> chosen_before_{};
};

}  // namespace wic
