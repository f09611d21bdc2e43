// A function's instructions as blocks, and its natural loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace wicprof {

struct Block {
  std::size_t begin = 0, end = 0;  ///< instructions
  std::vector<int> after, before;  ///< blocks
  bool leaves = false;             ///< what is outside of the function can follow
};

struct Graph {
  std::vector<Block> blocks;     ///< block 0 is the entry
  std::vector<int> block_of;     ///< per instruction
  std::vector<int> dominator;    ///< per block, its immediate dominator; the entry's is itself; -1: never reached
  std::vector<int> first, last;  ///< per block, its place in the tree of dominators, and the last place below it
  const Block& block(int number) const { return blocks[static_cast<std::size_t>(number)]; }
  bool dominates(int a, int b) const;
};

/// The loop of one back edge: the blocks from which the edge's tail is reached without passing the header. Two back
/// edges to one header are two loops, so that a short wait loop is separate from the long loop around it.
struct Loop {
  int header = 0;
  int tail = 0;
  std::vector<int> blocks;  ///< sorted
  bool contains(int block) const { return std::binary_search(blocks.begin(), blocks.end(), block); }
};

/// `successors`: per instruction, those that can follow it; the number of instructions, which is not 0, stands for what
/// is outside.
Graph graph_of(const std::vector<std::vector<std::size_t>>& successors);

/// The natural loops, smaller ones first. `irreducible`, if there, gets the tails of edges that go back to a block
/// which does not dominate them: loops with two entries, which are no natural loops.
std::vector<Loop> loops_of(const Graph& graph, std::vector<int>* irreducible = nullptr);

/// The blocks of the loop that something outside can follow: another block, or what is outside of the function.
std::vector<int> exits_of(const Graph& graph, const Loop& loop);

/// Calls visit(instruction) for each of the loop, ascending.
template <class Visit>
void each_instruction(const Graph& graph, const Loop& loop, Visit visit) {
  for (const int block : loop.blocks) {
    const Block& range = graph.block(block);
    for (std::size_t i = range.begin; i < range.end; ++i) visit(i);
  }
}

/// Which instructions are reached from `first`, itself included, without passing those that are `closed`.
/// `successors(i)`: as for graph_of().
template <class Successors>
std::vector<bool> reached_from(std::size_t first, std::vector<bool> closed, Successors successors) {
  std::vector<bool> reached(closed.size());
  std::vector<std::size_t> open{first};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at >= closed.size() || closed[at]) continue;
    closed[at] = reached[at] = true;
    for (const std::size_t next : successors(at)) open.push_back(next);
  }
  return reached;
}

}  // namespace wicprof
