// What belongs to a wait at an mbarrier beside its loop, and on which side of a pipeline the waiting warps are.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/loops.h"

namespace wicprof::analyzer {

/// What warps do behind a wait.
enum class PipelineRole {
  unknown,
  producer,  ///< start copies to shared memory
  consumer,  ///< load or multiply matrices that are in shared memory
};

/// "producer", "consumer"; of `unknown` nothing.
std::string_view name_of(PipelineRole role);

struct MbarrierWait {
  /// The loop's tries, those that come before the loop and lead to it where they fail, the instruction behind each, and
  /// the branches that ask for their results, where a warp that waits is sampled, too: indices into the function.
  std::set<std::size_t> tries;
  PipelineRole role = PipelineRole::unknown;
  std::string behind;  ///< the operation that shows the role: "HGMMA.64x128x16.F32.BF16"
};

/// `loop`: one of find_loops(function), of the kind try_wait. The role is that of the operations that are reached
/// behind the wait before any other wait at an mbarrier; unknown if there are none, or those of both roles.
MbarrierWait mbarrier_wait_of(const std::vector<SassInstruction>& function, const SassLoop& loop);

}  // namespace wicprof::analyzer
