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

constexpr TimeNs kSimtSlowness = 20;

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

struct ManyReaders {
  std::uint32_t from;   // so many readers of one word are many
  const char* because;  // which of the cases it is
};

ManyReaders many_readers(const SiteSpec& spec, const SiteObservation& seen, const AutomaticLimits& limits) {
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
    return {kDistantWordReaders, "of a word whose place is not declared and that may be far away"};
  }
  return {kDeviceWordReaders, "of a word that is near by"};
}

// How many wait on one word at once. Where words are not told apart, the declaration says whether all wait on one.
std::uint32_t readers_of_a_word(const SiteSpec& spec, const SiteObservation& seen) {
  if (seen.waiters_a_word != 0) return seen.waiters_a_word;
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
  if (kind == DeviceKind::simt) limits.break_even_ns *= kSimtSlowness;
  return limits;
}

Choice choose(const SiteSpec& spec) {
  if (spec.shared_word && spec.word_memory != WordMemory::device) {
    return {StrategyId::shared_watch, "declared: all wait on one word; one watcher reads it for all", {}};
  }
  if (spec.pollers == Pollers::each_thread) {
    return {
        StrategyId::leader_bar_sync, "declared: every thread polls; they stand at a barrier behind one that does", {}};
  }
  return {StrategyId::leader_bar_sync,
          "declared: one polling thread a group; it looks less often once a wait has lasted",
          {}};
}

Choice choose(const SiteSpec& spec, const SiteObservation& seen, StrategyId now, const AutomaticLimits& limits) {
  const bool parked = now != StrategyId::poll;
  const TimeNs least = parked ? limits.break_even_ns : limits.park_from_ns();
  // Polling ends a wait one look after its release at best: where a look takes as long as parking's wake-up and more,
  // short waits are short because they are parked.
  const bool slow_to_poll = seen.median_ns > 0 && seen.look_ns.value_or(0) >= limits.break_even_ns;
  if (seen.median_ns < least && !slow_to_poll) {
    const std::string what = seen.median_ns == 0 ? "most waits find their word released already" : how_long(seen);
    return {StrategyId::poll, what + "; parking gains nothing below " + duration(least), seen};
  }

  const bool each_thread = spec.pollers == Pollers::each_thread || seen.each_thread;
  const std::uint32_t readers = readers_of_a_word(spec, seen);
  // Behind a leader that polls for its group, the groups are the readers.
  const std::uint32_t alone = each_thread ? readers / std::max(1u, seen.warps) : readers;
  const ManyReaders many = many_readers(spec, seen, limits);
  // What watches goes on until clearly fewer wait.
  const std::uint32_t from = now == StrategyId::shared_watch ? many.from - many.from / 4 : many.from;
  const std::string who = std::to_string(readers) + (each_thread ? " warps" : "") + " wait at once on one word" +
                          place(spec.word_memory) + "; " + how_long(seen);
  if (alone >= from) {
    return {StrategyId::shared_watch,
            who + "; from " + std::to_string(from) + " readers " + many.because + " on, one watcher reads it for all",
            seen};
  }
  if (each_thread && seen.warps != 1) {
    return {StrategyId::leader_bar_sync, who + "; every thread polls: they stand at a barrier behind one that does",
            seen};
  }
  if (each_thread) {
    return {StrategyId::poll, who + "; a group is one warp: there is no other to be parked", seen};
  }
  return {StrategyId::leader_bar_sync,
          who + "; fewer than " + std::to_string(from) + " readers " + many.because +
              " cost the work beside them nothing; each looks less often once a wait has lasted",
          seen};
}

SiteChooser::SiteChooser(SiteSpec spec, AutomaticLimits limits)
    : spec_(std::move(spec)), limits_(limits), now_(choose(spec_)), candidate_(now_.strategy) {}

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
    if (chosen_before_[static_cast<std::uint8_t>(candidate_)]) returns_ = std::min(returns_ + 1, kMostReturns);
  }
  now_ = std::move(choice);
  agreeing_ = 0;
  return true;
}

}  // namespace wic
