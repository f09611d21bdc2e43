// Basic blocks, dominators and natural loops of a program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

struct Block {
  std::size_t begin = 0, end = 0;  ///< instructions
  std::vector<int> after, before;  ///< blocks
};

struct Graph {
  std::vector<Block> blocks;     ///< block 0 is the entry
  std::vector<int> block_of;     ///< per instruction
  std::vector<int> dominator;    ///< per block, its immediate dominator; the entry's is itself; -1: never reached
  std::vector<int> first, last;  ///< per block, its place in the tree of dominators, and the last place below it
  bool dominates(int a, int b) const;
};

/// The loop of one back edge: the blocks from which the edge's tail is reached without passing the header.
struct Loop {
  int header = 0;
  int tail = 0;
  std::vector<int> blocks;  ///< sorted
  bool contains(int block) const { return std::binary_search(blocks.begin(), blocks.end(), block); }
};

Graph graph_of(const Program& program);

/// The natural loops, smaller ones first. `irreducible` gets the tails of edges that go back to a block which does not
/// dominate them: loops with two entries, which are no natural loops.
std::vector<Loop> loops_of(const Graph& graph, std::vector<int>& irreducible);

}  // namespace wicprof::rewriter
