#include "src/strategy/automatic.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace wic {

using wicprof::DeviceKind;
using wicprof::Pollers;
using wicprof::StrategyId;
using wicprof::TimeNs;
using wicprof::WordMemory;

namespace {

constexpr TimeNs kSimtSlowness = 20;  // see AutomaticLimits::of()

std::string duration(TimeNs ns) {
  char text[32];
  const auto value = static_cast<double>(ns);
  if (ns < 1'000) {
    std::snprintf(text, sizeof text, "%d ns", static_cast<int>(ns));
  } else if (ns < wicprof::kMillisecond) {
    std::snprintf(text, sizeof text, "%.3g us", value * 1e-3);
  } else if (ns < wicprof::kSecond) {
    std::snprintf(text, sizeof text, "%.3g ms", value * 1e-6);
  } else {
    std::snprintf(text, sizeof text, "%.3g s", value * 1e-9);
  }
  return text;
}

const char* place(WordMemory memory) {
  switch (memory) {
    case WordMemory::device:
      return " in device memory";
    case WordMemory::pinned_host:
      return " in pinned host memory";
    case WordMemory::peer_device:
      return " in the memory of another device";
    case WordMemory::managed:
      return " in managed memory";
    case WordMemory::unknown:
      break;
  }
  return "";
}

struct ReaderLimit {
  std::uint32_t from;    // from so many readers of one word on, a watcher reads for all
  const char* of_which;  // the kind of word, for the reason
};

ReaderLimit reader_limit(const SiteSpec& spec, const SiteObservation& seen, const AutomaticLimits& limits) {
  switch (spec.word_memory) {
    case WordMemory::pinned_host:
    case WordMemory::managed:
      return {kHostWordReaders, "of a word on the host"};
    case WordMemory::peer_device:
      return {kPeerWordReaders, "of a word on another device"};
    case WordMemory::device:
      return {kDeviceWordReaders, "of a word on the device"};
    case WordMemory::unknown:
      break;
  }
  if (!seen.look_ns || *seen.look_ns >= limits.slow_look_ns) {
    return {kDistantWordReaders, "of a word whose memory is not declared and may be far away"};
  }
  return {kDeviceWordReaders, "of a nearby word"};
}

// Simultaneous waiters on one word. Where the words are not known, the declaration says whether all wait on one.
std::uint32_t readers_per_word(const SiteSpec& spec, const SiteObservation& seen) {
  if (seen.waiters_per_word != 0) return seen.waiters_per_word;
  return spec.shared_word ? seen.waiters : 1;
}

std::string how_long(const SiteObservation& seen) {
  std::string text = "the median wait is " + duration(seen.median_ns);
  if (seen.look_ns) text += ", a look takes " + duration(*seen.look_ns);
  return text;
}

}  // namespace

AutomaticLimits AutomaticLimits::of(DeviceKind kind) {
  AutomaticLimits limits;
  if (kind == DeviceKind::simt) {
    limits.break_even_ns *= kSimtSlowness;
    limits.lone_warps = 0;
  }
  return limits;
}

Choice choose(const SiteSpec& spec, const AutomaticLimits& limits) {
  if (spec.group_warps == 1 && spec.word_memory == WordMemory::device && limits.lone_warps > 0) {
    return {StrategyId::poll,
            "declared: a group is one warp and waits for words on the device, so there is no other warp to park",
            {}};
  }
  if (spec.shared_word && spec.word_memory != WordMemory::device) {
    return {StrategyId::shared_watch, "declared: all wait on one word, so one watcher reads it for all", {}};
  }
  if (spec.pollers == Pollers::each_thread) {
    return {StrategyId::leader_bar_sync,
            "declared: every thread polls, so one thread polls and the others wait at a barrier",
            {}};
  }
  return {StrategyId::leader_bar_sync,
          "declared: one polling thread per group; it polls less often the longer a wait lasts",
          {}};
}

Choice choose(const SiteSpec& spec, const SiteObservation& seen, StrategyId now, const AutomaticLimits& limits) {
  const bool parked = now != StrategyId::poll;
  const TimeNs min_length = parked ? limits.break_even_ns : limits.park_from_ns();
  // A polled wait ends at least one look after its release: where a look takes as long as the wake-up of a parked wait
  // or longer, short waits are short because they are parked.
  const bool slow_to_poll = seen.median_ns > 0 && seen.look_ns.value_or(0) >= limits.break_even_ns;
  if (seen.median_ns < min_length && !slow_to_poll) {
    const std::string what = seen.median_ns == 0 ? "most waits find their word ready" : how_long(seen);
    return {StrategyId::poll, what + "; parking gains nothing below " + duration(min_length), seen};
  }

  const bool each_thread = spec.pollers == Pollers::each_thread || seen.each_thread;
  const std::uint32_t readers = readers_per_word(spec, seen);
  // With one polling leader per group, the groups are the readers.
  const std::uint32_t groups = each_thread ? readers / std::max(1u, seen.warps) : readers;
  const ReaderLimit limit = reader_limit(spec, seen, limits);
  // A watcher stays until clearly fewer groups wait, so that the choice does not oscillate.
  const std::uint32_t from = now == StrategyId::shared_watch ? limit.from - limit.from / 4 : limit.from;
  const std::string who = std::to_string(readers) + (each_thread ? " warps" : "") + " wait at once on one word" +
                          place(spec.word_memory) + "; " + how_long(seen);
  if (groups >= from) {
    return {StrategyId::shared_watch,
            who + "; from " + std::to_string(from) + " readers " + limit.of_which + " on, one watcher reads it for all",
            seen};
  }
  if (each_thread && seen.warps != 1) {
    return {StrategyId::leader_bar_sync,
            who + "; every thread polls, so one thread polls and the others wait at a barrier", seen};
  }
  if (each_thread) {
    return {StrategyId::poll, who + "; a group is one warp, so there is no other warp to park", seen};
  }
  if (seen.warps == 1 && spec.word_memory == WordMemory::device && seen.waiters <= limits.lone_warps) {
    return {StrategyId::poll,
            who + "; a group is one warp, so there is no other warp to park, and " + std::to_string(seen.waiters) +
                " pollers of words on the device cost the work beside them nothing",
            seen};
  }
  return {StrategyId::leader_bar_sync,
          who + "; fewer than " + std::to_string(from) + " readers " + limit.of_which +
              " cost the work beside them nothing; each polls less often the longer a wait lasts",
          seen};
}

SiteChooser::SiteChooser(SiteSpec spec, AutomaticLimits limits)
    : spec_(std::move(spec)), limits_(limits), now_(choose(spec_, limits_)), candidate_(now_.strategy) {}

bool SiteChooser::see(const SiteObservation& seen) {
  Choice choice = choose(spec_, seen, now_.strategy, limits_);
  agreeing_ = choice.strategy == candidate_ ? agreeing_ + 1 : 1;
  candidate_ = choice.strategy;
  if (candidate_ == now_.strategy) {
    if (agreeing_ % kForgetsAfter == 0 && returns_ > 0) --returns_;
    if (now_.seen.waits != 0 || agreeing_ < kAgreeing) return false;
  } else {
    if (agreeing_ < kAgreeing << returns_) return false;
    chosen_before_[static_cast<std::uint8_t>(now_.strategy)] = true;
    if (chosen_before_[static_cast<std::uint8_t>(candidate_)]) returns_ = std::min(returns_ + 1, kMaxReturns);
  }
  now_ = std::move(choice);
  agreeing_ = 0;
  return true;
}

}  // namespace wic
