#include "analyzer/machine_code/mbarrier_wait.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "code/graph.h"

namespace wicprof::analyzer {
namespace {

/// Tries that a compiler or a program puts before the loop: cutlass asks twice. Not calibrated.
constexpr int kMaxFirstTries = 4;

PipelineRole role_of(const SassInstruction& instruction) {
  const std::string_view first = first_part(instruction.operation);
  if (first == "UTMALDG" || first == "LDGSTS") return PipelineRole::producer;
  // Bulk copies have a direction: to shared from global memory.
  if (first == "UBLKCP") {
    return instruction.operation.starts_with("UBLKCP.S.G") ? PipelineRole::producer : PipelineRole::unknown;
  }
  return first == "LDSM" || first.ends_with("MMA") ? PipelineRole::consumer : PipelineRole::unknown;
}

/// Walks from a wait's loop to the tries before it, and to what comes behind it.
class Walk {
 public:
  Walk(const std::vector<SassInstruction>& function, const SassLoop& loop)
      : function_(function), loop_(loop), graph_(*loop.graph) {}

  MbarrierWait run() {
    for (const std::size_t i : loop_.body) {
      if (function_[i].kind == SassKind::try_wait) found_.tries.insert(i);
      if (asks_for_a_try(i)) found_.tries.insert(i);
    }
    tries_before(loop_.blocks.header, kMaxFirstTries);
    find_role();
    // A suspended warp may be sampled at the next instruction.
    for (const std::size_t i : std::set<std::size_t>(found_.tries)) {
      if (function_[i].kind == SassKind::try_wait && i + 1 < function_.size()) found_.tries.insert(i + 1);
    }
    return std::move(found_);
  }

 private:
  /// The try in the block whose result decides the block's branch.
  std::optional<std::size_t> deciding_try(int block) const {
    const Block& range = graph_.block(block);
    const SassInstruction& branch = function_[range.end - 1];
    if (branch.kind != SassKind::branch || branch.guard.size() != 1) return std::nullopt;
    for (std::size_t i = range.end - 1; i-- > range.begin;) {
      if (std::ranges::count(function_[i].writes, branch.guard.front()) == 0) continue;
      return function_[i].kind == SassKind::try_wait ? std::optional(i) : std::nullopt;
    }
    return std::nullopt;
  }

  /// Whether the block does nothing but move values, ask and branch.
  bool only_asks(int block) const {
    const Block& range = graph_.block(block);
    return std::all_of(function_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                       function_.begin() + static_cast<std::ptrdiff_t>(range.end), [](const SassInstruction& each) {
                         return each.kind == SassKind::other || each.kind == SassKind::branch ||
                                each.kind == SassKind::try_wait;
                       });
  }

  void tries_before(int block, int most) {
    if (most == 0) return;
    for (const int before : graph_.block(block).before) {
      if (loop_.blocks.contains(before)) continue;
      const std::optional<std::size_t> first = deciding_try(before);
      if (first) {
        found_.tries.insert(*first);
        found_.tries.insert(graph_.block(before).end - 1);
      }
      const bool passes = graph_.block(before).after.size() == 1;
      if ((first || passes) && only_asks(before)) tries_before(before, most - 1);
    }
  }

  /// Whether the instruction is a branch whose condition a try before it in its block has written.
  bool asks_for_a_try(std::size_t i) const {
    const int block = graph_.block_of[i];
    return i + 1 == graph_.block(block).end && deciding_try(block).has_value();
  }

  void find_role() {
    std::vector<bool> closed(function_.size());
    for (std::size_t i = 0; i < function_.size(); ++i) closed[i] = function_[i].kind == SassKind::try_wait;
    for (const std::size_t i : loop_.body) closed[i] = true;
    bool produces = false, consumes = false;
    for (const int exit : exits_of(graph_, loop_.blocks)) {
      for (const std::size_t first : successors_of(function_, graph_.block(exit).end - 1)) {
        const std::vector<bool> reached =
            reached_from(first, closed, [&](std::size_t i) { return successors_of(function_, i); });
        for (std::size_t i = 0; i < reached.size(); ++i) {
          if (!reached[i]) continue;
          const PipelineRole role = role_of(function_[i]);
          if (role == PipelineRole::unknown) continue;
          (role == PipelineRole::producer ? produces : consumes) = true;
          if (found_.behind.empty()) found_.behind = function_[i].operation;
        }
      }
    }
    if (produces == consumes) {
      found_.behind.clear();
    } else {
      found_.role = produces ? PipelineRole::producer : PipelineRole::consumer;
    }
  }

  const std::vector<SassInstruction>& function_;
  const SassLoop& loop_;
  const Graph& graph_;
  MbarrierWait found_;
};

}  // namespace

std::string_view name_of(PipelineRole role) {
  switch (role) {
    case PipelineRole::producer:
      return "producer";
    case PipelineRole::consumer:
      return "consumer";
    case PipelineRole::unknown:
      break;
  }
  return {};
}

MbarrierWait mbarrier_wait_of(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  return Walk(function, loop).run();
}

}  // namespace wicprof::analyzer
