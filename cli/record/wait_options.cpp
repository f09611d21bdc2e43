#include "cli/record/wait_options.h"

#include <fmt/format.h>

#include <optional>

#include "cli/record/schedule.h"

namespace wicprof::cli {

std::string strategy_list() {
  std::string list;
  for (const StrategyName& s : kStrategies) list += fmt::format("{}{}", list.empty() ? "" : ", ", s.name);
  for (const StrategyName& s : kHostStrategies) list += fmt::format(", {}", s.name);
  return list;
}

namespace {

bool is_device_strategy(StrategyId strategy) {
  return strategy != StrategyId::poll && strategy != StrategyId::automatic && !is_host_strategy(strategy);
}

}  // namespace

Result<WaitSide> wanted_side(const std::string& side, StrategyId strategy) {
  if (side.empty()) return WaitSide::both;
  const std::optional<WaitSide> parsed = side_from_name(side);
  if (!parsed) return bad_input(fmt::format("unknown side '{}'; the sides are host, device and both", side));
  if ((*parsed == WaitSide::device && is_host_strategy(strategy)) ||
      (*parsed == WaitSide::host && is_device_strategy(strategy))) {
    return bad_input(fmt::format("'{}' is not a strategy of the side {}; the strategies are {}",
                                 strategy_name(strategy), side_name(*parsed), strategy_list()));
  }
  return *parsed;
}

Result<std::optional<WaitSide>> compared_side(const std::string& side, StrategyId strategy) {
  const Result<WaitSide> wanted = wanted_side(side, strategy);
  if (!wanted) return wanted.error();
  if (!side.empty()) return std::optional(*wanted);
  if (is_host_strategy(strategy)) return std::optional(WaitSide::host);
  return is_device_strategy(strategy) ? std::optional(WaitSide::device) : std::nullopt;
}

std::string chosen_side(WaitSide side, bool has_host_waits) {
  if (side == WaitSide::host) {
    return "comparing how host threads wait in calls of CUDA (--side host), since the program has no wait sites of its "
           "own";
  }
  return fmt::format("comparing how the program's wait sites wait (--side device){}",
                     has_host_waits ? "; --side host compares its host threads' waits in calls of CUDA" : "");
}

Result<WantedWait> park_wait(const std::string& strategy) {
  if (strategy.empty()) return WantedWait{Mode::park, default_strategy(Mode::park)};
  const std::optional<StrategyId> id = strategy_from_name(strategy);
  if (!id) return bad_input(fmt::format("unknown strategy '{}'; the strategies are {}", strategy, strategy_list()));
  if (is_patched_strategy(*id)) {
    return bad_input(
        fmt::format("each patched loop has one strategy, and '{}' is that of some; leave it out, or take one "
                    "of {}",
                    strategy, strategy_list()));
  }
  return WantedWait{Mode::park, *id};
}

Result<WantedWait> wanted_wait(const std::string& mode, const std::string& strategy) {
  const std::optional<Mode> parsed = mode.empty() ? Mode::poll : mode_from_name(mode);
  if (!parsed) return bad_input(fmt::format("unknown mode '{}'; the modes are poll and park", mode));
  if (*parsed == Mode::park) return park_wait(strategy);
  if (!strategy.empty()) {
    return bad_input(
        "--strategy applies to park only, because poll is the program's own way of waiting; use park, or leave "
        "--strategy out");
  }
  return WantedWait{Mode::poll, default_strategy(Mode::poll)};
}

}  // namespace wicprof::cli
