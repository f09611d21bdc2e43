// Where values come from in a loop: within a round, and from one round to the next.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "analyzer/machine_code/loops.h"
#include "code/loop_flow.h"

namespace wicprof::analyzer {

/// Instructions of a loop: indices into its function.
using Places = std::set<std::size_t>;

/// What the values of a loop's instructions are made of (LoopFlow). A write under a guard does not hide the writes
/// before it.
class DataFlow {
 public:
  /// Both must outlive this object.
  DataFlow(const std::vector<SassInstruction>& function, const SassLoop& loop);

  /// The loop's instructions, ascending.
  const std::vector<std::size_t>& body() const { return loop_.body; }
  const SassInstruction& at(std::size_t place) const { return function_[place]; }

  /// The instructions in the loop that may have written a register read at `place`.
  Places writers(std::size_t place, SassRegister r) const { return flow_.origins_of(place, r); }
  /// All instructions in the loop that contribute to the values of `registers` read at `place`.
  Places sources(std::size_t place, const std::vector<SassRegister>& registers) const;

  /// Adds what decides which of several writers counts: the sources of the branches within the loop, if an instruction
  /// at `places` reads a register that several instructions write.
  void add_choices(Places& places) const;

  /// Whether the instruction at `place` obtains a value from outside the thread: memory or a clock.
  bool reads_external(std::size_t place) const;
  /// Whether the value computed at `place` depends on the value that the same instruction computed in a round before.
  bool carried(std::size_t place) const { return carried_[place]; }
  /// Whether values computed at `places` are carried from round to round.
  bool carried(const Places& places) const;
  /// Whether values computed at `places` can change from round to round.
  bool varies(const Places& places) const;

  /// The last instruction before the loop, in the order of addresses, that writes a register. nullptr: none is near.
  const SassInstruction* written_before(SassRegister r) const;
  /// Whether a round can pass without an atomic compare-and-exchange or exchange.
  bool skips_exchange() const;

  /// The places from which the loop can be left.
  const Places& exits() const { return exits_; }

 private:
  void find_carried();

  const std::vector<SassInstruction>& function_;
  const SassLoop& loop_;
  const LoopFlow flow_;
  std::vector<std::vector<int>> inputs_;  // by node
  std::vector<bool> carried_;             // by instruction of the function
  Places exits_;
};

}  // namespace wicprof::analyzer
