// The gate's runs: headless, one after the other, sides in turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/gate/gate.h"
#include "cli/ci/config.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// A program in one way of waiting.
struct CiSide {
  std::string label;  ///< for people
  std::string file;   ///< the stem of its traces' names
  std::vector<std::string> words;
  std::optional<WantedWait> wait;  ///< nothing = as the program itself waits
};

/// What is run: one side, or two that are compared, the one that is judged last.
std::vector<CiSide> sides_of(const CiConfig& config, const std::vector<std::string>& words);

struct Measured {
  std::vector<analyzer::GateSide> sides;
  std::vector<std::string> files;  ///< names of the traces, in the order of the runs
  std::string broken;              ///< why the runs were given up; empty when all went well
};

/// Records every run into `folder`. Two sides go in turn, and which goes first alternates, so that a machine that warms
/// up or slows down does so to both. Error: the program cannot be started at all (nothing ran). A run that fails ends
/// the measurement.
Result<Measured> measure(const CiConfig& config, const std::vector<CiSide>& sides, const std::string& folder,
                         bool overwrite);

}  // namespace wicprof::cli
