// What `wic-prof ci` is asked to do: a TOML file (docs/ci.md), read and checked before anything runs.
#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/gate.h"
#include "protocol/control.h"
#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct CiConfig {
  int repeat = 6;           ///< runs of each side that count
  int warm_up = 0;          ///< runs of each side before them, which do not
  std::vector<Mode> modes;  ///< one or two; none = as the program itself waits
  WantedWait park{Mode::park, StrategyId::automatic};
  TimeNs timeout = 0;                  ///< of one run; 0 = none
  std::string trace;                   ///< what to record, as run's --trace; empty = as without it
  std::vector<std::string> reference;  ///< the words of the other build's command; empty = none
  std::vector<std::string> baseline;   ///< paths of traces, relative to the configuration's folder resolved
  analyzer::GateConfig gate;
};

/// Errors name the file, the line and column or the key, and what would be right. A key that is not known is an error:
/// a limit with a slip of the pen in its name would never fail.
Result<CiConfig> read_ci_config(const std::string& path);

}  // namespace wicprof::cli
