#include "code/graph.h"

#include <algorithm>
#include <set>

namespace wicprof {

namespace {

/// The blocks in reverse postorder of a depth-first search, and the edges that go back to a block on the search's path.
struct Order {
  std::vector<int> blocks;
  std::vector<std::pair<int, int>> retreating;
};

Order order_of(const Graph& graph) {
  Order order;
  const std::size_t count = graph.blocks.size();
  std::vector<char> state(count, 0);  // 1: on the path, 2: done
  std::vector<std::pair<int, std::size_t>> path{{0, 0}};
  state[0] = 1;
  while (!path.empty()) {
    auto& [block, next] = path.back();
    const std::vector<int>& after = graph.block(block).after;
    if (next == after.size()) {
      state[static_cast<std::size_t>(block)] = 2;
      order.blocks.push_back(block);
      path.pop_back();
      continue;
    }
    const int to = after[next++];
    char& seen = state[static_cast<std::size_t>(to)];
    if (seen == 1) order.retreating.emplace_back(block, to);
    if (seen != 0) continue;
    seen = 1;
    path.emplace_back(to, 0);
  }
  std::ranges::reverse(order.blocks);
  return order;
}

void find_dominators(Graph& graph, const Order& order) {
  // Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
  std::vector<int> position(graph.blocks.size(), -1);
  for (std::size_t i = 0; i < order.blocks.size(); ++i) {
    position[static_cast<std::size_t>(order.blocks[i])] = static_cast<int>(i);
  }
  graph.dominator.assign(graph.blocks.size(), -1);
  graph.dominator[0] = 0;
  const auto at = [&](int block) -> int& { return graph.dominator[static_cast<std::size_t>(block)]; };
  for (bool changed = true; changed;) {
    changed = false;
    for (const int block : order.blocks) {
      if (block == 0) continue;
      int common = -1;
      for (int before : graph.block(block).before) {
        if (at(before) < 0) continue;
        if (common < 0) {
          common = before;
          continue;
        }
        while (before != common) {
          while (position[static_cast<std::size_t>(before)] > position[static_cast<std::size_t>(common)]) {
            before = at(before);
          }
          while (position[static_cast<std::size_t>(common)] > position[static_cast<std::size_t>(before)]) {
            common = at(common);
          }
        }
      }
      if (common != at(block)) {
        at(block) = common;
        changed = true;
      }
    }
  }
}

/// Numbers the tree of dominators from its root, so that the blocks that one dominates have the numbers behind its own.
void number_dominators(Graph& graph) {
  const std::size_t count = graph.blocks.size();
  std::vector<std::vector<int>> below(count);
  for (std::size_t block = 1; block < count; ++block) {
    if (graph.dominator[block] >= 0)
      below[static_cast<std::size_t>(graph.dominator[block])].push_back(static_cast<int>(block));
  }
  graph.first.assign(count, -1);
  graph.last.assign(count, -1);
  int next = 0;
  std::vector<int> path{0};
  while (!path.empty()) {
    const auto block = static_cast<std::size_t>(path.back());
    if (graph.first[block] < 0) graph.first[block] = next++;
    if (below[block].empty()) {
      graph.last[block] = next - 1;
      path.pop_back();
    } else {
      path.push_back(below[block].back());
      below[block].pop_back();
    }
  }
}

}  // namespace

bool Graph::dominates(int a, int b) const {
  const auto at = static_cast<std::size_t>(a), of = static_cast<std::size_t>(b);
  return a == b || (first[at] >= 0 && first[at] <= first[of] && first[of] <= last[at]);
}

Graph graph_of(const std::vector<std::vector<std::size_t>>& successors) {
  const std::size_t count = successors.size();
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (successors[i] == std::vector{i + 1}) continue;
    begins[i + 1] = true;
    for (const std::size_t to : successors[i]) begins[to] = true;
  }
  Graph graph;
  graph.block_of.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (begins[i]) graph.blocks.push_back({i, i, {}, {}});
    graph.blocks.back().end = i + 1;
    graph.block_of[i] = static_cast<int>(graph.blocks.size()) - 1;
  }
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    Block& block = graph.blocks[b];
    std::set<int> after;
    for (const std::size_t to : successors[block.end - 1]) {
      if (to < count) {
        after.insert(graph.block_of[to]);
      } else {
        block.leaves = true;
      }
    }
    block.after.assign(after.begin(), after.end());
    for (const int to : after) graph.blocks[static_cast<std::size_t>(to)].before.push_back(static_cast<int>(b));
  }
  find_dominators(graph, order_of(graph));
  number_dominators(graph);
  return graph;
}

std::vector<Loop> loops_of(const Graph& graph, std::vector<int>* irreducible) {
  std::vector<Loop> loops;
  std::vector<int> seen_in(graph.blocks.size(), -1);  // per block, the number of the loop that it was last found in
  for (const auto& [tail, header] : order_of(graph).retreating) {
    if (!graph.dominates(header, tail)) {
      if (irreducible != nullptr) irreducible->push_back(tail);
      continue;
    }
    const int number = static_cast<int>(loops.size());
    Loop& loop = loops.emplace_back();
    loop.header = header;
    loop.tail = tail;
    const auto add = [&](int block) {
      int& seen = seen_in[static_cast<std::size_t>(block)];
      if (seen == number || graph.dominator[static_cast<std::size_t>(block)] < 0) return;  // never reached
      seen = number;
      loop.blocks.push_back(block);
    };
    add(header);
    add(tail);
    for (std::size_t i = 1; i < loop.blocks.size(); ++i) {
      for (const int before : graph.block(loop.blocks[i]).before) add(before);
    }
    std::ranges::sort(loop.blocks);
  }
  std::ranges::stable_sort(loops, [](const Loop& a, const Loop& b) { return a.blocks.size() < b.blocks.size(); });
  return loops;
}

std::vector<int> exits_of(const Graph& graph, const Loop& loop) {
  std::vector<int> exits;
  for (const int b : loop.blocks) {
    const Block& block = graph.block(b);
    const auto stays = [&](int after) { return loop.contains(after); };
    if (block.leaves || !std::ranges::all_of(block.after, stays)) exits.push_back(b);
  }
  return exits;
}

}  // namespace wicprof
