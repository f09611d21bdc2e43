// What the devices of ranks do alike: launches of one kernel and shape, and copies of one kind and size. A device that
// takes longer for these is slower than the others, or shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ranks/rank_devices.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// In ns.
struct SameRuns {
  std::uint64_t runs = 0;
  TimeNs total = 0, median = 0;
};
/// By what they have in common: "gemm <<<64x1x1, 256x1x1>>>", "copy host to device of 4194304 bytes".
using SameWork = std::map<std::string, SameRuns>;

/// Of one rank.
struct CommonWork {
  SameWork kernels;  ///< without NCCL's, without whole graphs, and without launches that wait at a wait site
  SameWork copies;   ///< of at least kLeastCopied bytes, without memory that is pageable or managed
  /// What turns of other programs on its devices make its kernels longer by, in sum. Of digests: turn_sums().
  TimeNs interrupted = 0;
};
/// Shorter copies take as long for their setup. Not calibrated.
inline constexpr std::uint64_t kLeastCopied = 1 << 16;

/// By process, of those in a communicator. `devices`: of NCCL, only what lies between its first and its last kernel;
/// nullptr for all.
std::map<store::ProcessId, CommonWork> same_work(const TraceModel& model,
                                                 const std::map<store::ProcessId, RankDevices>* devices);

/// How much longer one rank takes for the same work.
struct SlowerWork {
  double times = 1;       ///< all work that is slower, by that of the median of the others
  TimeNs longer_ns = 0;   ///< in sum
  std::size_t kinds = 0;  ///< kinds of work that are slower
  std::string most;       ///< of these, the one with most further time
  double most_times = 1;
};

/// The same kernels take longer: at least kLeastKinds of them, which hold half of the rank's kernel time, and none of
/// which alone explains it. Empty where the others run other kernels or shapes for a fifth of the time: then the work
/// differs.
std::optional<SlowerWork> slower_kernels(const SameWork& late, const std::vector<const SameWork*>& others);
inline constexpr std::size_t kLeastKinds = 3;
/// The same copies take longer: those that hold half of the time of the rank's copies.
std::optional<SlowerWork> slower_copies(const SameWork& late, const std::vector<const SameWork*>& others);

}  // namespace wicprof::analyzer
