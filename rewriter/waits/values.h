// Where the values of one loop come from: from loads of this round, from counters, from a clock, from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "code/graph.h"
#include "code/loop_flow.h"
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

/// Whether the load's address is one of shared memory, as far as the function tells. `writers`: writers_in(program).
bool reads_shared_memory(const Program& program, const std::vector<std::vector<std::size_t>>& writers,
                         const Instruction& load);

/// The values of one loop's instructions.
class LoopValues {
 public:
  /// `writers`: writers_in(program). All must outlive it.
  LoopValues(const Program& program, const Graph& graph, const Loop& loop,
             const std::vector<std::vector<std::size_t>>& writers);

  Reading reading_of(std::size_t instruction) const;
  /// The value of a source of an instruction of the loop, where the instruction reads it.
  Value value_of(std::size_t instruction, const Operand& operand) const;
  /// What the instruction computes for its results.
  Value result_of(std::size_t instruction) const;
  /// The address of a load, a store or an atomic.
  Value address_of(std::size_t instruction) const { return value_of(instruction, program_.code[instruction].address); }

  /// The instructions of the loop that may have written what the instruction reads. An index of npos stands for the
  /// value at the beginning of the round.
  std::vector<std::size_t> writers_of(std::size_t instruction, int variable) const {
    return flow_.writers_of(instruction, variable);
  }
  /// The instructions that write the variable last in a round that goes on with another one.
  std::vector<std::size_t> last_writers_of(int variable) const { return flow_.last_writers_of(variable); }
  bool written_in_loop(int variable) const { return flow_.written_in_loop(variable); }
  /// The constant that the operand always has.
  bool constant_of(const Operand& operand, std::int64_t& value) const;

  static constexpr std::size_t npos = LoopFlow::npos;

 private:
  /// An atomic that certainly leaves the word as it is.
  bool keeps_the_word(const Instruction& atomic) const;
  bool may_write(const Instruction& writer, const Instruction& load) const;
  bool loop_may_write(const Instruction& load) const;
  void evaluate();
  bool is_constant_move(int node) const;
  Value cycle_value(const std::vector<int>& cycle) const;
  Value node_value(int node) const;

  const Program& program_;
  const LoopFlow flow_;
  bool fenced_ = false;                   ///< every round has a fence
  bool meets_ = false;                    ///< every round has a barrier of the block
  std::vector<std::size_t> writers_;      ///< the instructions of the loop that may write memory
  std::vector<std::vector<int>> inputs_;  ///< per node
  std::vector<Value> values_;
  const std::vector<std::vector<std::size_t>>& program_writers_;  ///< per variable, in the whole program
};

}  // namespace wicprof::rewriter
