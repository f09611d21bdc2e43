// The strategies, by number and name. wic-backend/include/wic/strategies/ implements them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wicprof {

/// Add at the end (before `automatic`); never renumber: traces hold these numbers.
enum class StrategyId : std::uint8_t {
  poll = 0,
  backoff = 1,
  predicted_sleep = 2,
  leader_bar_sync = 3,
  shared_watch = 4,
  leader_mbarrier = 5,
  leader_mbarrier_hint = 6,
  naive = 7,
  // Ways in which wic-prof waits in the place of a host thread's call (collector/waits/wait_plan.h).
  spin = 64,    ///< asks without a pause
  block = 65,   ///< sleeps and asks in between
  hybrid = 66,  ///< sleeps for the part of the wait that it predicts, then polls, then sleeps and asks
  // Ways in which a loop of the program's own waits that wic-prof has patched (rewriter/patch); each loop has one.
  pause = 128,      ///< all waiters read the word, with pauses that grow with the wait
  watch = 129,      ///< as pause; but where reads of the word are slow, one thread of the device reads it for all
  automatic = 255,  ///< the backend chooses one of the others, site by site
};

struct StrategyName {
  StrategyId id;
  std::string_view name;
};

inline constexpr std::array kStrategies{
    StrategyName{StrategyId::poll, "poll"},
    StrategyName{StrategyId::backoff, "backoff"},
    StrategyName{StrategyId::predicted_sleep, "predicted_sleep"},
    StrategyName{StrategyId::leader_bar_sync, "leader_bar_sync"},
    StrategyName{StrategyId::shared_watch, "shared_watch"},
    StrategyName{StrategyId::leader_mbarrier, "leader_mbarrier"},
    StrategyName{StrategyId::leader_mbarrier_hint, "leader_mbarrier_hint"},
    StrategyName{StrategyId::naive, "naive"},
    StrategyName{StrategyId::automatic, "auto"},
};

/// The strategies of host threads that wait in calls of CUDA.
inline constexpr std::array kHostStrategies{
    StrategyName{StrategyId::spin, "spin"},
    StrategyName{StrategyId::block, "block"},
    StrategyName{StrategyId::hybrid, "hybrid"},
};

/// The strategies of patched loops.
inline constexpr std::array kPatchedStrategies{
    StrategyName{StrategyId::pause, "pause"},
    StrategyName{StrategyId::watch, "watch"},
};

/// The first of all strategies that `is` holds for; nullptr: none.
template <class Is>
constexpr const StrategyName* find_strategy(const Is& is) {
  const auto in = [&](const auto& list) -> const StrategyName* {
    for (const StrategyName& each : list) {
      if (is(each)) return &each;
    }
    return nullptr;
  };
  const StrategyName* found = in(kStrategies);
  if (found == nullptr) found = in(kHostStrategies);
  return found == nullptr ? in(kPatchedStrategies) : found;
}

constexpr bool is_host_strategy(StrategyId id) {
  return id == StrategyId::spin || id == StrategyId::block || id == StrategyId::hybrid;
}
constexpr bool is_patched_strategy(StrategyId id) { return id == StrategyId::pause || id == StrategyId::watch; }

constexpr std::string_view strategy_name(StrategyId id) {
  const StrategyName* const found = find_strategy([&](const StrategyName& each) { return each.id == id; });
  return found == nullptr ? "unknown" : found->name;
}

constexpr std::optional<StrategyId> strategy_from_name(std::string_view name) {
  const StrategyName* const found = find_strategy([&](const StrategyName& each) { return each.name == name; });
  return found == nullptr ? std::nullopt : std::optional(found->id);
}

/// `poll` is the program's own way of waiting; `park` is the WIC backend.
enum class Mode : std::uint8_t { poll = 0, park = 1 };

constexpr std::string_view mode_name(Mode mode) { return mode == Mode::poll ? "poll" : "park"; }

constexpr std::optional<Mode> mode_from_name(std::string_view name) {
  if (name == "poll") return Mode::poll;
  if (name == "park") return Mode::park;
  return std::nullopt;
}

/// Which waits a change of the whole program is about.
enum class WaitSide : std::uint8_t {
  both = 0,
  device = 1,  ///< warps, and host threads at sites that the program declares
  host = 2,    ///< host threads in calls of CUDA
};

constexpr std::string_view side_name(WaitSide side) {
  return side == WaitSide::device ? "device" : side == WaitSide::host ? "host" : "both";
}

constexpr std::optional<WaitSide> side_from_name(std::string_view name) {
  if (name == "both") return WaitSide::both;
  if (name == "device") return WaitSide::device;
  if (name == "host") return WaitSide::host;
  return std::nullopt;
}

/// The default strategy of a mode.
constexpr StrategyId default_strategy(Mode mode) {
  return mode == Mode::poll ? StrategyId::poll : StrategyId::automatic;
}

}  // namespace wicprof
