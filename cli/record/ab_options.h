// The options of a comparison of both modes, for each verb that begins one.
#pragma once

#include <cstdint>
#include <string>

#include "cli/record/ab_schedule.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// As written on the command line; empty = not given.
struct AbOptions {
  std::string time = usual_time(), precision = usual_precision();
  std::string strategy, side;
  std::uint64_t seed = 0;                                      ///< of the random order; 0: by the clock
  bool end_program = false, placebo = false, patched = false;  ///< as in AbPlan
  bool energy = false;                                         ///< phases are as long as a meter of energy needs

  static std::string usual_time();
  static std::string usual_precision();
};

/// Errors: a strategy, a side, a time or a share that there is not.
Result<AbPlan> read_ab(const AbOptions& options);

/// "30s". Error: anything else.
Result<TimeNs> read_ab_time(const std::string& time);

/// "0.5%".
std::string precision_text(double share);

}  // namespace wicprof::cli
