// The gate's runs: without a window, one after the other, alternating between the sides.
#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/gate.h"
#include "cli/ci/config.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// A program with one mode of waiting.
struct CiSide {
  std::string label;  ///< for people
  std::string file;   ///< the stem of its traces' names
  std::vector<std::string> words;
  std::optional<WantedWait> wait;  ///< empty = the program waits as it chooses
};

/// One side, or two to compare; the judged side comes last.
std::vector<CiSide> sides_of(const CiConfig& config, const std::vector<std::string>& words);

struct Measured {
  std::vector<analyzer::GateSide> sides;
  std::vector<std::string> files;  ///< names of the traces, in the order of the runs
  std::string broken;              ///< why the measurement ended early; empty if all runs succeeded
};

/// Records every run into `folder`. Two sides alternate, and so does the side that goes first, so that a machine that
/// warms up or slows down affects both alike. Error: the first run cannot start. A run that fails ends the measurement.
Result<Measured> measure(const CiConfig& config, const std::vector<CiSide>& sides, const std::string& folder,
                         bool overwrite);

}  // namespace wicprof::cli
