// Commands that findings recommend.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/trace/trace_model.h"
#include "protocol/strategy.h"

namespace wicprof::analyzer {

/// The command that parks the waits at one site of the running program; the name is quoted for a shell.
std::string park_command(std::string_view site_name, std::optional<StrategyId> strategy = std::nullopt);

/// Of a program that runs, or of which the trace does not say how it was started: the same. Else a run of the program
/// that compares both modes.
std::string park_command(const TraceModel& model, std::string_view site_name,
                         std::optional<StrategyId> strategy = std::nullopt);
/// The same for the waits of host threads in calls of CUDA; a sentence where the trace has both ways already.
std::string host_park_command(const TraceModel& model, std::optional<StrategyId> strategy = std::nullopt);

/// Whether a remedy begins with a command that parks waits other than those in calls of CUDA.
bool parks_sites(std::string_view remedy);
/// The strategy that such a command names; nothing: it leaves the choice to `auto`.
std::optional<StrategyId> named_strategy(std::string_view command);

/// Another way of waiting, which a command lets a program try.
struct Trial {
  WaitSide side = WaitSide::device;
  bool patched = false;                ///< the waits are loops that are patched while the program loads its code
  std::optional<StrategyId> strategy;  ///< nothing: `auto`
};
/// Nothing: the command switches nothing.
std::optional<Trial> trial_of(std::string_view command);
/// The options of `wic-prof run` for the trial's waits, behind `how`: "--ab --side host --strategy block" for "--ab".
std::string trial_options(const Trial& trial, std::string_view how);

/// Whether the program is a Python program, which takes no change of its calls of CUDA.
bool is_python(const TraceModel& model);

}  // namespace wicprof::analyzer
