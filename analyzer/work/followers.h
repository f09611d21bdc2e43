// Which kernel follows which on its stream, and how.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

enum class Following : std::uint8_t {
  directly,  ///< kept out by its predecessor: the program had launched it before the predecessor's end
  beside,    ///< the same, but another kernel ran on the device at the same time as one of the two
  early,     ///< it started before its predecessor's end
};

/// A kernel and its successor: indexes into TraceModel::kernels.
struct Follower {
  std::uint32_t before = 0, after = 0;
  Following how = Following::directly;
};

struct Followers {
  /// What ran beside a kernel.
  static constexpr std::uint32_t kAlone = ~0u, kPartly = ~0u - 1;

  std::vector<Follower> list;  ///< by stream, in order of start
  /// By kernel: another kernel of the device that ran during its whole time, kPartly if others ran for a part of it, or
  /// kAlone.
  std::vector<std::uint32_t> beside;
  // Kernels with a predecessor on their stream that are not in the list.
  std::uint64_t late = 0;        ///< started later than right behind it, or their launching call ended after its end
  std::uint64_t after_copy = 0;  ///< a copy or memset ran between both
};

/// A kernel that starts this soon after its predecessor's end was ready before that end. Not calibrated; a gap between
/// kernels that are queued is 1 to 2 us.
inline constexpr TimeNs kRightBehind = 10'000;

/// Leaves out the backend's own work and work without times. Linear in the number of kernels and copies.
Followers followers(const TraceModel& model, const DeviceWork& work);

}  // namespace wicprof::analyzer
