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

constexpr std::string_view strategy_name(StrategyId id) {
  for (const StrategyName& s : kStrategies) {
    if (s.id == id) return s.name;
  }
  return "unknown";
}

constexpr std::optional<StrategyId> strategy_from_name(std::string_view name) {
  for (const StrategyName& s : kStrategies) {
    if (s.name == name) return s.id;
  }
  return std::nullopt;
}

/// `poll` is the program's own way of waiting; `park` is the WIC backend.
enum class Mode : std::uint8_t { poll = 0, park = 1 };

constexpr std::string_view mode_name(Mode mode) { return mode == Mode::poll ? "poll" : "park"; }

constexpr std::optional<Mode> mode_from_name(std::string_view name) {
  if (name == "poll") return Mode::poll;
  if (name == "park") return Mode::park;
  return std::nullopt;
}

/// The default strategy of a mode.
constexpr StrategyId default_strategy(Mode mode) {
  return mode == Mode::poll ? StrategyId::poll : StrategyId::automatic;
}

}  // namespace wicprof
