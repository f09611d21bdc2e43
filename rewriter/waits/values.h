// Where the values of one loop come from: from loads of this round, from counters, from a clock, from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "code/graph.h"
#include "code/loop_flow.h"
#include "code/verdicts.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// What a value of a loop depends on. Values that depend on nothing here are the same in every round.
enum Source : std::uint32_t {
  kCounter = 1u << 0,      ///< a counter that the loop carries from round to round, with steps of one constant
  kSequence = 1u << 1,     ///< another sequence of integers: a doubled pause, a random number, a function of a counter
  kClock = 1u << 2,        ///< a clock
  kWeak = 1u << 3,         ///< a load that the compiler and the caches need not repeat
  kVaries = 1u << 4,       ///< a load whose address changes from round to round
  kCarried = 1u << 5,      ///< anything else that the loop carries from round to round
  kHardware = 1u << 6,     ///< the result of an instruction that waits in hardware
  kWithinRound = 1u << 7,  ///< a counter of an inner loop, which begins anew in every round
  kTable = 1u << 8,        ///< a counter that goes round in a few words
  kEarlier = 1u << 9,      ///< what a load of the round before returned
  kRewritten = 1u << 10,   ///< an ordinary load of memory that the loop itself may write
  kTurn = 1u << 11,        ///< a number that goes round: an index of several words, and what is computed from it alone
  kInTurn = 1u << 12,      ///< a load whose address depends on such a number
  kInTable = 1u << 13,     ///< a load whose address depends on a counter that goes round in a few words
  kMask = 1u << 14,        ///< a mask from which a round may take bits, and which it may leave as it is
  kByMask = 1u << 15,      ///< a load whose address depends on such a mask
};

struct Value {
  std::uint32_t sources = 0;    ///< of Source
  std::set<std::size_t> polls;  ///< the loads and atomics of the loop that it depends on: indices of instructions

  void add(const Value& other) {
    sources |= other.sources;
    polls.insert(other.polls.begin(), other.polls.end());
  }
};

/// How an instruction reads memory that others write.
enum class Reading {
  none,
  weak,      ///< an ordinary load
  constant,  ///< memory that nobody writes while the kernel runs
  strong,    ///< volatile, relaxed, acquire; an atomic that leaves the value as it is
  attempt,   ///< an atomic that changes the word if it has the value that the program waits for
  changes,   ///< an atomic that changes memory
};

/// Whether the atomic changes nothing when it is done again with the same operands: sets a bit, or puts a value.
bool may_repeat_itself(const Instruction& atomic);

/// The values of one loop's instructions.
class LoopValues {
 public:
  /// `writers`: writers_in(program). All must outlive it.
  LoopValues(const Program& program, const Graph& graph, const Loop& loop,
             const std::vector<std::vector<std::size_t>>& writers);

  const Program& program() const { return program_; }
  const Graph& graph() const { return graph_; }
  const Loop& loop() const { return loop_; }
  const LoopFlow& flow() const { return flow_; }

  Reading reading_of(std::size_t instruction) const;
  /// The memory that a load or an atomic reads, as far as the function tells: `word`, `shared_word` or `cluster_word`.
  WaitedFor memory_of(const Instruction& load) const;
  bool reads_shared_memory(const Instruction& load) const { return memory_of(load) != WaitedFor::word; }
  /// The value of a source of an instruction of the loop, where the instruction reads it.
  Value value_of(std::size_t instruction, const Operand& operand) const;
  /// What the instruction computes for its results.
  Value result_of(std::size_t instruction) const;
  /// The address of a load, a store or an atomic.
  Value address_of(std::size_t instruction) const { return value_of(instruction, program_.code[instruction].address); }

  /// Whether the loop sleeps for as long as the instruction's operands say, or for what the loop makes of them: what
  /// they carry from round to round is the length of a pause alone.
  bool compares_pauses(std::size_t instruction) const;

  /// Whether another thread alone may end the loop, as far as the operands of these instructions tell: some way through
  /// the loop polls, and leaves all that they are made of as it is, and changes no memory by an atomic; or an atomic
  /// asks for a value that the round before did not read.
  bool may_stay(const std::set<std::size_t>& instructions) const;
  /// The instructions that take bits from the masks (kMask) of which the instruction's operands are made.
  std::set<std::size_t> clearing_masks_of(std::size_t instruction) const;

  /// The constant that the operand always has.
  bool constant_of(const Operand& operand, std::int64_t& value) const;
  /// The variable of the module whose address the operand always is, in whatever address space; empty: another address.
  std::string_view symbol_of(Operand operand) const;

 private:
  class RoundWalk;

  /// An atomic that certainly leaves the word as it is.
  bool keeps_the_word(const Instruction& atomic) const;
  std::string_view object_of(const Operand& operand, std::set<int>& seen) const;
  bool may_write(const Instruction& writer, const Instruction& load) const;
  bool asks_for_fixed_value(std::size_t reader, const Operand& operand, int depth) const;
  bool loop_may_write(const Instruction& load) const;
  void evaluate(const std::vector<Component>& order);
  bool is_constant_move(int node) const;
  Value cycle_value(const std::vector<int>& cycle) const;
  std::set<int> masks_of(const std::vector<int>& cycle) const;
  bool may_be(std::int64_t wanted, std::size_t reader, const Operand& operand,
              std::set<std::pair<int, std::int64_t>>& seen) const;
  std::vector<std::size_t> kept_sources(std::size_t index) const;
  std::vector<int> kept_by(int node) const;
  bool keeps(const std::set<int>& masks) const;
  bool evaluate_masks(const std::vector<int>& cycle);
  Value node_value(int node) const;
  /// The nodes that the instruction's operands are made of.
  std::set<int> made_of(std::size_t instruction) const;
  /// Those of them that are values at the beginning of the round.
  std::set<int> carried_into(std::size_t instruction) const;

  const Program& program_;
  const Graph& graph_;
  const Loop& loop_;
  const LoopFlow flow_;
  bool fenced_ = false;                   ///< every round has a fence
  bool meets_ = false;                    ///< every round has a barrier of the block
  std::vector<std::size_t> writers_;      ///< the instructions of the loop that may write memory
  std::vector<std::vector<int>> inputs_;  ///< per node
  std::vector<Value> values_;
  std::set<int> carried_;   ///< nodes that depend on themselves, from round to round
  std::set<int> clearing_;  ///< those that take bits from masks
  /// Answers of asks_for_fixed_value() so far, by instruction and depth: unrolled code has many ways to each.
  mutable std::map<std::pair<std::size_t, int>, bool> fixed_;
  const std::vector<std::vector<std::size_t>>& program_writers_;  ///< per variable, in the whole program
};

}  // namespace wicprof::rewriter
