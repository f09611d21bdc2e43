// What all shapes of bench_tiles say together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/claim.h"

namespace wicprof::bench {

/// One number per shape.
struct TilesTotals {
  std::vector<double> fractional, tuned, parked, asleep, napping, again, prediction_errors, prediction_errors_of_gains,
      cublas;
  std::map<std::string, std::vector<double>> tuned_of;  ///< by kind

  /// Adds the means, the worst and their bars.
  void add_to(Claim& claim) const;
};

}  // namespace wicprof::bench
