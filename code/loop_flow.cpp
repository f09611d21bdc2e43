#include "code/loop_flow.h"

#include <algorithm>

namespace wicprof {

namespace {

constexpr std::size_t kBits = 64;

std::uint64_t& word_of(std::vector<std::uint64_t>& set, int node) {
  return set[static_cast<std::size_t>(node) / kBits];
}
std::uint64_t bit_of(int node) { return std::uint64_t{1} << (static_cast<std::size_t>(node) % kBits); }

}  // namespace

LoopFlow::LoopFlow(const Graph& graph, const Loop& loop, const std::function<Writes(std::size_t)>& writes)
    : graph_(graph), loop_(loop) {
  const auto add = [&](std::size_t instruction, int variable) {
    nodes_.push_back({instruction, variable});
    nodes_of_[variable].push_back(static_cast<int>(nodes_.size()) - 1);
    return static_cast<int>(nodes_.size()) - 1;
  };
  for (const int b : loop.blocks) {
    const Block& block = graph.block(b);
    first_place_.push_back(written_.size());
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const Writes what = writes(i);
      Written& written = written_.emplace_back(Written{{}, what.replaces});
      for (const int variable : *what.variables) {
        if (!nodes_of_.contains(variable)) add(npos, variable);
        written.nodes.push_back(add(i, variable));
      }
    }
  }
  find_reaching();
}

std::size_t LoopFlow::index_in_loop(int block) const {
  return static_cast<std::size_t>(std::lower_bound(loop_.blocks.begin(), loop_.blocks.end(), block) -
                                  loop_.blocks.begin());
}

std::size_t LoopFlow::place_of(std::size_t instruction) const {
  const int block = graph_.block_of[instruction];
  return first_place_[index_in_loop(block)] + instruction - graph_.block(block).begin;
}

void LoopFlow::step(std::size_t place, Set& reaching) const {
  for (const int node : written_[place].nodes) {
    if (written_[place].replaces) {
      const int variable = nodes_[static_cast<std::size_t>(node)].variable;
      for (const int other : nodes_of_.at(variable)) word_of(reaching, other) &= ~bit_of(other);
    }
    word_of(reaching, node) |= bit_of(node);
  }
}

void LoopFlow::find_reaching() {
  const std::size_t words = nodes_.size() / kBits + 1;
  at_begin_.assign(loop_.blocks.size(), Set(words, 0));
  for (const auto& [variable, nodes] : nodes_of_) {
    word_of(at_begin_[index_in_loop(loop_.header)], nodes.front()) |= bit_of(nodes.front());
  }
  at_back_edge_.assign(words, 0);
  std::vector<int> open(loop_.blocks.rbegin(), loop_.blocks.rend());
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    const std::size_t at = index_in_loop(block);
    Set reaching = at_begin_[at];
    const Block& range = graph_.block(block);
    for (std::size_t i = 0; i < range.end - range.begin; ++i) step(first_place_[at] + i, reaching);
    for (const int after : range.after) {
      if (!loop_.contains(after)) continue;
      Set& to = after == loop_.header ? at_back_edge_ : at_begin_[index_in_loop(after)];
      bool changed = false;
      for (std::size_t w = 0; w < words; ++w) {
        const std::uint64_t both = to[w] | reaching[w];
        changed |= both != to[w];
        to[w] = both;
      }
      if (changed && after != loop_.header) open.push_back(after);
    }
  }
}

/// What is asked for next is mostly the same instruction, or one behind it.
const LoopFlow::Set& LoopFlow::reaching_at(std::size_t instruction) const {
  const int block = graph_.block_of[instruction];
  if (reaching_before_ == npos || reaching_before_ > instruction || graph_.block_of[reaching_before_] != block) {
    reaching_ = at_begin_[index_in_loop(block)];
    reaching_before_ = graph_.block(block).begin;
  }
  for (; reaching_before_ < instruction; ++reaching_before_) step(place_of(reaching_before_), reaching_);
  return reaching_;
}

std::vector<int> LoopFlow::among(const Set& reaching, int variable) const {
  std::vector<int> found;
  const auto nodes = nodes_of_.find(variable);
  if (nodes == nodes_of_.end()) return found;
  for (const int node : nodes->second) {
    if (reaching[static_cast<std::size_t>(node) / kBits] & bit_of(node)) found.push_back(node);
  }
  return found;
}

std::vector<int> LoopFlow::reaching(std::size_t instruction, int variable) const {
  return written_in_loop(variable) ? among(reaching_at(instruction), variable) : std::vector<int>();
}

std::vector<std::size_t> LoopFlow::instructions_of(const std::vector<int>& nodes) const {
  std::vector<std::size_t> found;
  for (const int node : nodes) found.push_back(nodes_[static_cast<std::size_t>(node)].instruction);
  return found;
}

std::vector<std::size_t> LoopFlow::writers_of(std::size_t instruction, int variable) const {
  return instructions_of(reaching(instruction, variable));
}

std::set<std::size_t> LoopFlow::origins_of(std::size_t instruction, int variable) const {
  const std::vector<std::size_t> now = writers_of(instruction, variable);
  std::set<std::size_t> found(now.begin(), now.end());
  if (found.erase(npos) == 0) return found;
  const std::vector<std::size_t> before = last_writers_of(variable);
  found.insert(before.begin(), before.end());
  found.erase(npos);
  return found;
}

/// Tarjan's algorithm; it finishes a component after all that the component depends on.
std::vector<Component> components_of(const std::vector<std::vector<int>>& inputs) {
  const std::size_t count = inputs.size();
  std::vector<Component> found;
  std::vector<int> number(count, -1), lowest(count, 0);
  std::vector<bool> open(count, false);
  std::vector<int> stack;
  int next = 0;
  struct Visit {
    int node;
    std::size_t input;
  };
  for (std::size_t root = 0; root < count; ++root) {
    if (number[root] >= 0) continue;
    std::vector<Visit> path{{static_cast<int>(root), 0}};
    while (!path.empty()) {
      const auto node = static_cast<std::size_t>(path.back().node);
      if (path.back().input == 0 && number[node] < 0) {
        number[node] = lowest[node] = next++;
        stack.push_back(static_cast<int>(node));
        open[node] = true;
      }
      if (path.back().input < inputs[node].size()) {
        const auto input = static_cast<std::size_t>(inputs[node][path.back().input++]);
        if (number[input] < 0) {
          path.push_back({static_cast<int>(input), 0});
        } else if (open[input]) {
          lowest[node] = std::min(lowest[node], number[input]);
        }
        continue;
      }
      if (lowest[node] == number[node]) {
        Component& component = found.emplace_back();
        do {
          component.nodes.push_back(stack.back());
          open[static_cast<std::size_t>(stack.back())] = false;
          stack.pop_back();
        } while (component.nodes.back() != static_cast<int>(node));
        component.cyclic = component.nodes.size() > 1 || std::ranges::count(inputs[node], static_cast<int>(node)) > 0;
      }
      path.pop_back();
      if (!path.empty()) {
        const auto parent = static_cast<std::size_t>(path.back().node);
        lowest[parent] = std::min(lowest[parent], lowest[node]);
      }
    }
  }
  return found;
}

}  // namespace wicprof
