// Where values come from in a loop: within a round, and from one round to the next.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "analyzer/machine_code/loops.h"

namespace wicprof::analyzer {

/// Positions in a loop's body.
using Places = std::set<std::size_t>;

/// Definitions that reach their uses along the loop's branches, so registers may be reused. A write under a guard does
/// not hide the writes before it.
class DataFlow {
 public:
  /// Both must outlive this object.
  DataFlow(const std::vector<SassInstruction>& function, const SassLoop& loop);

  std::size_t size() const { return loop_.body.size(); }
  const SassInstruction& at(std::size_t place) const { return function_[loop_.body[place]]; }

  /// The instructions in the loop that may have written a register read at `place`.
  Places writers(std::size_t place, SassRegister r) const;
  /// All instructions in the loop that contribute to the values of `registers` read at `place`.
  Places sources(std::size_t place, const std::vector<SassRegister>& registers) const;

  /// Adds what decides which of several writers counts: the sources of the branches within the loop, if an instruction
  /// at `places` reads a register that several instructions write.
  void add_choices(Places& places) const;

  /// Whether the instruction at `place` obtains a value from outside the thread: memory or a clock.
  bool reads_external(std::size_t place) const;
  /// Whether the instruction at `place` obtains a value from memory.
  bool reads_memory(std::size_t place) const;
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
  struct Writer {
    std::size_t place;
    bool round_before;  // the write may be of the round before the read
    bool guards;        // it decides whether the reading instruction takes effect
  };
  std::vector<Writer> reaching(std::size_t place, SassRegister r) const;
  void find_carried();

  const std::vector<SassInstruction>& function_;
  const SassLoop& loop_;
  std::size_t head_ = 0;                                // place
  std::vector<std::vector<std::size_t>> predecessors_;  // places, by place
  std::vector<std::vector<Writer>> operands_;           // of all registers that an instruction reads, by place
  std::vector<bool> carried_;
  Places exits_;
};

}  // namespace wicprof::analyzer
