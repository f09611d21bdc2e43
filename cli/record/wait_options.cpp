#include "cli/record/wait_options.h"

#include <fmt/format.h>

namespace wicprof::cli {

std::string strategy_list() {
  std::string list;
  for (const StrategyName& s : kStrategies) list += fmt::format("{}{}", list.empty() ? "" : ", ", s.name);
  return list;
}

Result<WantedWait> park_wait(const std::string& strategy) {
  if (strategy.empty()) return WantedWait{Mode::park, default_strategy(Mode::park)};
  const std::optional<StrategyId> id = strategy_from_name(strategy);
  if (!id) return bad_input(fmt::format("unknown strategy '{}'; the strategies are {}", strategy, strategy_list()));
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
