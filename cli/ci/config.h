// The configuration of `wic-prof ci`: a TOML file (docs/ci.md), read and checked before the first run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/gate/gate.h"
#include "protocol/control.h"
#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct CiConfig {
  int repeat = 6;           ///< measured runs of each side
  int warm_up = 0;          ///< runs of each side before the measured ones
  std::vector<Mode> modes;  ///< one or two; empty = the program waits as it chooses
  WantedWait park{Mode::park, StrategyId::automatic};
  TimeNs timeout = 0;                  ///< of one run; 0 = none
  std::string trace;                   ///< the value of run's --trace; empty = the default
  std::vector<std::string> reference;  ///< the command of the other build, in words; empty = none
  std::vector<std::string> baseline;   ///< paths of traces, resolved from the configuration's folder
  analyzer::GateConfig gate;
};

/// True without a limit and without a comparison: such a gate passes whenever the program runs.
bool only_runs(const CiConfig& config);

/// Errors name the file, the line and column or the key, and valid values. An unknown key is an error, because a limit
/// with a misspelt name would never fail.
Result<CiConfig> read_ci_config(const std::string& path);
/// The same for the text of the file at `path`.
Result<CiConfig> parse_ci_config(std::string_view text, const std::string& path);

}  // namespace wicprof::cli
