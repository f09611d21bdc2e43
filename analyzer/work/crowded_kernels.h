// Kernels that ran beside a kernel whose blocks leave them no room on the SMs that these blocks hold: what that costs,
// measured against the same kernel alone, and what a carve-out could gain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/work/followers.h"
#include "analyzer/work/pair_kernel.h"
#include "analyzer/work/tile_gain.h"

namespace wicprof::analyzer {

struct CrowdedKernel {
  PairKernel kernel, holder;
  DeviceId device = 0;
  std::uint32_t held_sms = 0, sm_count = 0;  ///< held: if the holder's blocks are spread evenly
  std::uint64_t launches = 0, alone = 0;     ///< of the kernel: beside the holder for their whole time, and alone
  TimeNs beside_ns = 0, alone_ns = 0;        ///< sums over these
  /// SM time in which blocks of the holder waited at wait sites, in ns times SMs.
  TimeNs holder_held_sm_ns = 0;
  std::optional<Bound> carve_out;  ///< sums over `launches` (crowded_gain()); empty without launches alone
};

/// Largest high end first, at most kMostCrowded. Leaves out kernels with waits inside, whose time depends on these, and
/// kernels of which a block fits beside the holder's. `held`: held_sm_time(). Linear in the number of kernels.
std::vector<CrowdedKernel> crowded_kernels(const TraceModel& model, const Followers& followers,
                                           const std::vector<TimeNs>& held);
inline constexpr std::size_t kMostCrowded = 500;

}  // namespace wicprof::analyzer
