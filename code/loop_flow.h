// Which values reach which reads in one loop: within a round, and from one round to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "code/graph.h"

namespace wicprof {

/// A node is one value of a variable: what an instruction of the loop writes, or what the variable has when a round
/// begins. Only variables that the loop writes have nodes.
class LoopFlow {
 public:
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  struct Node {
    std::size_t instruction = npos;  ///< npos: the value at the beginning of the round
    int variable = -1;
  };

  /// What an instruction writes.
  struct Writes {
    const std::vector<int>* variables = nullptr;  ///< numbers; read by the constructor alone
    bool replaces = true;  ///< what they had before is gone; else the instruction writes a part, or not always
  };

  /// `graph` and `loop` must outlive it. `writes` is asked for each instruction of the loop.
  LoopFlow(const Graph& graph, const Loop& loop, const std::function<Writes(std::size_t)>& writes);

  const std::vector<Node>& nodes() const { return nodes_; }
  /// Those that the instruction writes.
  const std::vector<int>& written_by(std::size_t instruction) const { return written_[place_of(instruction)].nodes; }
  bool written_in_loop(int variable) const { return nodes_of_.contains(variable); }

  /// The nodes that the instruction may read as the variable's value.
  std::vector<int> reaching(std::size_t instruction, int variable) const;
  /// The nodes that the variable may have when another round begins.
  std::vector<int> last(int variable) const { return among(at_back_edge_, variable); }
  /// The instructions of reaching(), with npos for the value at the beginning of the round.
  std::vector<std::size_t> writers_of(std::size_t instruction, int variable) const;
  std::vector<std::size_t> last_writers_of(int variable) const { return instructions_of(last(variable)); }
  /// The instructions that may have written what the instruction reads, in this round or in one before.
  std::set<std::size_t> origins_of(std::size_t instruction, int variable) const;

  /// Per node, the nodes that its value is made of: what its instruction reads; of a value at the beginning of the
  /// round, the values at the end of one. `reads(node, use)` calls use(variable) for each variable.
  template <class Reads>
  std::vector<std::vector<int>> inputs(Reads reads) const {
    std::vector<std::vector<int>> all(nodes_.size());
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node].instruction == npos) {
        all[node] = last(nodes_[node].variable);
        std::erase(all[node], static_cast<int>(node));  // not written on some way
        continue;
      }
      reads(nodes_[node], [&](int read) {
        const std::vector<int> from = reaching(nodes_[node].instruction, read);
        all[node].insert(all[node].end(), from.begin(), from.end());
      });
    }
    return all;
  }

 private:
  using Set = std::vector<std::uint64_t>;  // of nodes, a bit each
  struct Written {
    std::vector<int> nodes;
    bool replaces = true;
  };

  std::size_t index_in_loop(int block) const;
  std::size_t place_of(std::size_t instruction) const;
  void find_reaching();
  void step(std::size_t place, Set& reaching) const;
  const Set& reaching_at(std::size_t instruction) const;
  std::vector<int> among(const Set& reaching, int variable) const;
  std::vector<std::size_t> instructions_of(const std::vector<int>& nodes) const;

  const Graph& graph_;
  const Loop& loop_;
  std::vector<Node> nodes_;
  std::map<int, std::vector<int>> nodes_of_;  ///< per variable; the value at the beginning of the round comes first
  std::vector<std::size_t> first_place_;      ///< per block of the loop, in written_
  std::vector<Written> written_;              ///< per instruction of the loop
  std::vector<Set> at_begin_;                 ///< per block of the loop
  Set at_back_edge_;
  mutable Set reaching_;  ///< of reaching_at(): before this instruction
  mutable std::size_t reaching_before_ = npos;
};

/// Nodes that depend on each other.
struct Component {
  std::vector<int> nodes;
  bool cyclic = false;  ///< else it is one node that does not depend on itself
};

/// The strongly connected components of nodes, each behind those that it depends on. `inputs`: LoopFlow::inputs().
std::vector<Component> components_of(const std::vector<std::vector<int>>& inputs);

}  // namespace wicprof
