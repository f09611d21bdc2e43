// Chains of tiles of random shapes, orders, policies and numbers of blocks, beside a kernel that holds SMs; and chains
// that break the rules.
#pragma once

#include <cstdint>

#include "wic/runtime.h"

namespace wicprof::bench {

struct ChainCounts {
  std::uint64_t launches = 0;  ///< of kernels
  std::uint64_t chains = 0;    ///< shapes
  std::uint64_t held = 0;      ///< of these, beside a kernel that held SMs
  std::uint64_t failed = 0;    ///< chains with a deadline, with numbers read too early or with too few or many tiles
};

/// Launches until there are at least `launches`, or for `longest_ns`. Each pair of kernels is checked by its second
/// kernel. Errors: no memory; a kernel that failed.
Result<ChainCounts> run_random_chains(wic::Runtime& runtime, SiteId site, std::uint64_t launches, TimeNs longest_ns,
                                      std::uint32_t seed);

struct FaultCounts {
  std::uint64_t faults = 0, named = 0;  ///< named: those that ended with an error that names the deadline
  std::uint64_t recovered = 0;          ///< those after which the chain computed right results
  double longest_ms = 0;                ///< from the launch to the error
};

/// Consumers before their producers, and producers that leave out a tile; each must end with an error in time.
Result<FaultCounts> run_faulty_chains(wic::Runtime& runtime, SiteId site, std::uint32_t faults, std::uint32_t seed);

}  // namespace wicprof::bench
