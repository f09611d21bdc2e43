// Masks that a loop carries from round to round, such as the words that are still waited for.
#include <algorithm>
#include <iterator>
#include <map>

#include "rewriter/flow/live_values.h"
#include "rewriter/waits/values.h"

namespace wicprof::rewriter {

/// The nodes of the cycle that are masks of which a round can only clear bits; none, if the cycle carries anything else
/// from round to round.
std::set<int> LoopValues::masks_of(const std::vector<int>& cycle) const {
  // Those whose bits have all been set when the round began: all nodes, until no more prove to be none.
  std::set<int> masks(cycle.begin(), cycle.end());
  const auto are_masks = [&](const std::vector<int>& nodes) {
    return !nodes.empty() && std::ranges::all_of(nodes, [&](int node) { return masks.contains(node); });
  };
  const auto is_mask = [&](int node) {
    const std::size_t index = flow_.nodes()[index_of(node)].instruction;
    if (index == LoopFlow::npos) return are_masks(inputs_[index_of(node)]);
    const Instruction& instruction = program_.code[index];
    const auto is_masked = [&](const Operand& source) {
      return source.kind == OperandKind::variable && are_masks(flow_.reaching(index, source.variable));
    };
    const std::string_view mnemonic = mnemonic_of(instruction.opcode);
    const std::vector<Operand>& sources = instruction.sources;
    if (instruction.partial) return false;
    if (mnemonic == "selp") return sources.size() == 3 && is_masked(sources[0]) && is_masked(sources[1]);
    // Of an "and", either source will do.
    return (instruction.moves || mnemonic == "and") && std::ranges::any_of(sources, is_masked);
  };
  bool carries_more = false;
  const auto is_none = [&](int node) {
    if (is_mask(node)) return false;
    carries_more |= flow_.nodes()[index_of(node)].instruction == LoopFlow::npos;
    return true;
  };
  while (!carries_more && std::erase_if(masks, is_none) != 0) {
  }
  return carries_more ? std::set<int>() : masks;
}

/// Whether the operand may have no bits (`wanted` is 0) or all (-1), as the loop chooses or lanes vote.
bool LoopValues::may_be(std::int64_t wanted, std::size_t reader, const Operand& operand,
                        std::set<std::pair<int, std::int64_t>>& seen) const {
  if (operand.kind == OperandKind::constant) {
    return operand.constant == wanted || (wanted == -1 && operand.constant == 0xffffffff);
  }
  if (operand.kind != OperandKind::variable) return false;
  return std::ranges::any_of(flow_.reaching(reader, operand.variable), [&](int node) {
    const std::size_t index = flow_.nodes()[index_of(node)].instruction;
    if (index == LoopFlow::npos || !seen.insert({node, wanted}).second) return false;
    const Instruction& instruction = program_.code[index];
    const std::string_view mnemonic = mnemonic_of(instruction.opcode);
    const auto source_may_be = [&](std::int64_t value, std::size_t number) {
      return number < instruction.sources.size() && may_be(value, index, instruction.sources[number], seen);
    };
    if (mnemonic == "vote") return wanted == 0 && has_modifier(instruction.opcode, "ballot");
    if (mnemonic == "selp") return source_may_be(wanted, 0) || source_may_be(wanted, 1);
    if (mnemonic == "not") return source_may_be(-1 - wanted, 0);
    return (instruction.moves || (mnemonic == "shl" && wanted == 0)) && source_may_be(wanted, 0);
  });
}

/// The sources whose value the instruction's result may have, by their numbers.
std::vector<std::size_t> LoopValues::kept_sources(std::size_t index) const {
  const Instruction& instruction = program_.code[index];
  const std::vector<Operand>& sources = instruction.sources;
  const std::string_view mnemonic = mnemonic_of(instruction.opcode);
  if (instruction.moves) return {0};
  if (mnemonic == "selp" && sources.size() == 3) return {0, 1};
  std::vector<std::size_t> kept;
  if (mnemonic == "and" && sources.size() == 2) {
    for (const std::size_t number : {0u, 1u}) {
      std::set<std::pair<int, std::int64_t>> seen;
      if (may_be(-1, index, sources[1 - number], seen)) kept.push_back(number);
    }
  }
  return kept;
}

/// The nodes whose value the node may have.
std::vector<int> LoopValues::kept_by(int node) const {
  const std::size_t index = flow_.nodes()[index_of(node)].instruction;
  if (index == LoopFlow::npos) return inputs_[index_of(node)];
  std::vector<int> kept;
  for (const std::size_t number : kept_sources(index)) {
    const Operand& source = program_.code[index].sources[number];
    if (source.kind != OperandKind::variable) continue;
    const std::vector<int> from = flow_.reaching(index, source.variable);
    kept.insert(kept.end(), from.begin(), from.end());
  }
  return kept;
}

/// Whether a round may leave a mask as it is.
bool LoopValues::keeps(const std::set<int>& masks) const {
  return std::ranges::any_of(masks, [&](int begin) {
    if (flow_.nodes()[index_of(begin)].instruction != LoopFlow::npos) return false;
    std::vector<int> open = flow_.last(flow_.nodes()[index_of(begin)].variable);
    std::set<int> seen;
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      if (node == begin) return true;
      if (!masks.contains(node) || !seen.insert(node).second) continue;
      const std::vector<int> kept = kept_by(node);
      open.insert(open.end(), kept.begin(), kept.end());
    }
    return false;
  });
}

/// Gives the nodes their values, if all that they carry from round to round are masks that a round may leave as they
/// are. What the loop computes of them, and what chooses the bits that go, may depend on the masks again.
bool LoopValues::evaluate_masks(const std::vector<int>& cycle) {
  std::set<int> clearing;
  for (const int node : cycle) {
    const std::size_t index = flow_.nodes()[index_of(node)].instruction;
    if (index != LoopFlow::npos && mnemonic_of(program_.code[index].opcode) == "and") clearing.insert(node);
  }
  if (clearing.empty() || !carried_.contains(cycle.front())) return false;
  const std::set<int> masks = masks_of(cycle);
  std::erase_if(clearing, [&](int node) { return !masks.contains(node); });
  if (clearing.empty() || !keeps(masks)) return false;
  // The others, without what leads back to the masks.
  std::vector<int> others;
  std::ranges::copy_if(cycle, std::back_inserter(others), [&](int node) { return !masks.contains(node); });
  std::map<int, int> number;
  for (std::size_t i = 0; i < others.size(); ++i) number[others[i]] = static_cast<int>(i);
  std::vector<std::vector<int>> inputs(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    for (const int input : inputs_[index_of(others[i])]) {
      if (const auto found = number.find(input); found != number.end()) inputs[i].push_back(found->second);
    }
  }
  const std::vector<Component> order = components_of(inputs);
  if (std::ranges::any_of(order, [](const Component& component) { return component.cyclic; })) return false;
  Value value;
  value.sources = kMask;
  for (const int node : masks) values_[index_of(node)] = value;
  for (const Component& component : order) {
    const int node = others[index_of(component.nodes.front())];
    values_[index_of(node)] = node_value(node);
  }
  for (const int node : masks) {
    for (const int input : inputs_[index_of(node)]) value.add(values_[index_of(input)]);
  }
  for (const int node : masks) values_[index_of(node)] = value;
  clearing_.merge(clearing);
  return true;
}

std::set<std::size_t> LoopValues::clearing_masks_of(std::size_t instruction) const {
  std::set<std::size_t> all;
  for (const int node : made_of(instruction)) {
    if (clearing_.contains(node)) all.insert(flow_.nodes()[index_of(node)].instruction);
  }
  return all;
}

}  // namespace wicprof::rewriter
