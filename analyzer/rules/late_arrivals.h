// Whether one rank is late more often than chance makes equal ranks late.
#pragma once

#include <cstdint>

#include "analyzer/ranks/mpi_waits.h"

namespace wicprof::analyzer {

/// Equal ranks are late by chance: a finding needs late arrivals that chance brings so rarely. For one false finding in
/// 10,000 traces.
inline constexpr double kByChance = 1e-4;

/// How many of the costliest arrivals are one rank's.
struct WorstArrivals {
  std::uint64_t of_rank = 0, all = 0;
  double chance = 1;  ///< that so many are one rank's, if all are late equally often
};
WorstArrivals worst_arrivals(const MpiWaits& mpi, store::ProcessId process);

}  // namespace wicprof::analyzer
