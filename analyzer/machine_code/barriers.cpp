#include "analyzer/machine_code/barriers.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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

class Paths {
 public:
  explicit Paths(const std::vector<SassInstruction>& code) : code_(code) {
    for (std::size_t i = 0; i < code.size(); ++i) index_of_[code[i].offset] = i;
  }

  /// Calls `go` with each instruction that can follow the instruction `i`.
  template <typename Go>
  void follow(std::size_t i, Go go) const {
    const bool leaves = code_[i].kind == SassKind::branch || code_[i].kind == SassKind::end;
    if ((!leaves || code_[i].conditional) && i + 1 < code_.size()) go(i + 1);
    if (code_[i].kind != SassKind::branch) return;
    if (const auto target = index_of_.find(*code_[i].target); target != index_of_.end()) go(target->second);
  }

  /// The instructions that can be reached from the function's entry without passing the loop.
  std::vector<bool> reached_without(const SassLoop& loop) const {
    std::vector<bool> seen(code_.size()), reached(code_.size());
    for (const std::size_t i : loop.body) seen[i] = true;
    std::vector<std::size_t> open;
    const auto go = [&](std::size_t to) {
      if (seen[to]) return;
      seen[to] = reached[to] = true;
      open.push_back(to);
    };
    if (!code_.empty()) go(0);
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      follow(i, go);
    }
    return reached;
  }

 private:
  const std::vector<SassInstruction>& code_;
  std::map<std::uint64_t, std::size_t> index_of_;
};

}  // namespace

std::set<CodePlace> barriers_after(const Routine& routine, const SassLoop& loop) {
  const std::vector<SassInstruction>& code = routine.code;
  const Paths paths(code);
  const std::vector<bool> others = paths.reached_without(loop);
  std::vector<bool> seen(code.size());
  for (const std::size_t i : loop.body) seen[i] = true;

  std::set<CodePlace> barriers;
  std::vector<std::size_t> now = loop.body;
  for (std::size_t distance = 0; distance <= kMaxDistanceOfOthers && !now.empty(); ++distance) {
    std::vector<std::size_t> next;
    for (const std::size_t i : now) {
      paths.follow(i, [&](std::size_t to) {
        if (seen[to]) return;
        seen[to] = true;
        if (code[to].kind != SassKind::barrier) {
          if (rejoins(code[to]) && distance <= kMaxDistance) barriers.insert(routine.origins[to]);
          return next.push_back(to);
        }
        if (distance > kMaxDistance && !others[to]) return;
        barriers.insert(routine.origins[to]);
        if (to + 1 < code.size()) barriers.insert(routine.origins[to + 1]);
      });
    }
    now = std::move(next);
  }
  return barriers;
}

}  // namespace wicprof::analyzer
