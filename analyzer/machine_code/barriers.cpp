#include "analyzer/machine_code/barriers.h"

#include <utility>
#include <vector>

#include "code/graph.h"

namespace wicprof::analyzer {
namespace {

/// The barrier is at most this many instructions after the loop, on the shortest way; not calibrated. Without
/// optimisation, the return from a function that polls is a dozen instructions long.
constexpr std::size_t kMaxDistance = 96;
/// A barrier that other warps reach without passing the loop may be this far behind it: one warp takes a lock and uses
/// what the lock guards while the others wait.
constexpr std::size_t kMaxDistanceOfOthers = 2048;

// Where the lanes of a warp that left the loop wait for those that are in it.
bool rejoins(const SassInstruction& instruction) {
  return instruction.operation.starts_with("WARPSYNC") || instruction.operation.starts_with("BSYNC");
}

}  // namespace

std::set<CodePlace> barriers_after(const Routine& routine, const SassLoop& loop) {
  const std::vector<SassInstruction>& code = routine.code;
  std::vector<bool> seen(code.size());
  for (const std::size_t i : loop.body) seen[i] = true;
  // From the entry without passing the loop.
  const std::vector<bool> others = reached_from(0, seen, [&](std::size_t i) { return successors_of(code, i); });

  std::set<CodePlace> barriers;
  std::vector<std::size_t> now = loop.body;
  for (std::size_t distance = 0; distance <= kMaxDistanceOfOthers && !now.empty(); ++distance) {
    std::vector<std::size_t> next;
    for (const std::size_t i : now) {
      for (const std::size_t to : successors_of(code, i)) {
        if (to == code.size() || seen[to]) continue;
        seen[to] = true;
        if (code[to].kind != SassKind::barrier) {
          if (rejoins(code[to]) && distance <= kMaxDistance) barriers.insert(routine.origins[to]);
          next.push_back(to);
          continue;
        }
        if (distance > kMaxDistance && !others[to]) continue;
        barriers.insert(routine.origins[to]);
        if (to + 1 < code.size()) barriers.insert(routine.origins[to + 1]);
      }
    }
    now = std::move(next);
  }
  return barriers;
}

}  // namespace wicprof::analyzer
