#include "rewriter/waits/values.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace wicprof::rewriter {

namespace {

// A table that a loop goes round in to find the one word of several that is set. Larger ones may be hash tables, in
// which a program searches. The limit is the number of lanes of two warps; not calibrated.
constexpr std::int64_t kLargestTable = 64;

bool strong_load(std::string_view opcode) {
  if (has_modifier(opcode, "local") || has_modifier(opcode, "nc")) return false;
  for (const std::string_view modifier : {"volatile", "relaxed", "acquire", "mmio", "cv", "cg"}) {
    if (has_modifier(opcode, modifier)) return true;
  }
  return false;
}

bool reads_constant_memory(std::string_view opcode) {
  return has_modifier(opcode, "const") || has_modifier(opcode, "nc") || has_modifier(opcode, "param") ||
         mnemonic_of(opcode) == "ldu";
}

/// Keeps equal steps equal.
bool is_linear(std::string_view opcode) {
  static const std::set<std::string_view> kLinear = {"mov", "add",  "sub",  "cvt", "cvta",
                                                     "neg", "selp", "setp", "min", "max"};
  return kLinear.contains(mnemonic_of(opcode));
}

std::string_view space_of(std::string_view opcode) {
  for (const std::string_view space : {"global", "shared", "local", "param", "const"}) {
    if (has_modifier(opcode, space)) return space;
  }
  return {};
}

bool is_floating(std::string_view opcode) {
  for (const std::string_view type : {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"}) {
    if (has_modifier(opcode, type)) return true;
  }
  return false;
}

}  // namespace

bool reads_shared_memory(const Program& program, const std::vector<std::vector<std::size_t>>& writers,
                         const Instruction& load) {
  if (has_modifier(load.opcode, "shared")) return true;
  std::set<int> seen;
  std::vector<Operand> open{load.address};
  while (!open.empty()) {
    const Operand operand = open.back();
    open.pop_back();
    if (operand.kind != OperandKind::variable || !seen.insert(operand.variable).second) continue;
    for (const std::size_t writer : writers[static_cast<std::size_t>(operand.variable)]) {
      const Instruction& instruction = program.code[writer];
      if (mnemonic_of(instruction.opcode) == "cvta" && has_modifier(instruction.opcode, "shared")) return true;
      if (instruction.effect != Effect::compute) continue;
      open.insert(open.end(), instruction.sources.begin(), instruction.sources.end());
    }
  }
  return false;
}

LoopValues::LoopValues(const Program& program, const Graph& graph, const Loop& loop,
                       const std::vector<std::vector<std::size_t>>& writers)
    : program_(program), graph_(graph), loop_(loop), program_writers_(writers) {
  for (const int block : loop.blocks) {
    const bool always = graph.dominates(block, loop.tail);
    const Block& range = graph.blocks[static_cast<std::size_t>(block)];
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Instruction& instruction = program.code[i];
      if (always && instruction.effect == Effect::fence && instruction.guard < 0) fenced_ = true;
      if (always && instruction.effect == Effect::barrier && instruction.guard < 0) meets_ = true;
      switch (instruction.effect) {
        case Effect::atomic:
          if (!keeps_the_word(instruction)) writers_.push_back(i);
          break;
        case Effect::store:
        case Effect::reduction:
        case Effect::call:
        case Effect::asynchronous:
        case Effect::other_memory:
        case Effect::unknown:
          writers_.push_back(i);
          break;
        default:
          break;
      }
    }
  }
  number_nodes();
  find_reaching();
  evaluate();
}

bool LoopValues::constant_of(const Operand& operand, std::int64_t& value) const {
  Operand at = operand;
  for (int depth = 0; depth < 16; ++depth) {
    if (at.kind == OperandKind::constant) {
      value = at.constant;
      return true;
    }
    if (at.kind != OperandKind::variable) return false;
    const std::vector<std::size_t>& writers = program_writers_[static_cast<std::size_t>(at.variable)];
    if (writers.empty()) return false;
    const Instruction& first = program_.code[writers.front()];
    // Several definitions are one if each moves the same constant.
    for (const std::size_t writer : writers) {
      const Instruction& each = program_.code[writer];
      if (!each.moves || each.guard >= 0) return false;
      const Operand &a = each.sources[0], &b = first.sources[0];
      if (a.kind != b.kind || a.constant != b.constant || a.variable != b.variable) return false;
    }
    at = first.sources[0];
  }
  return false;
}

bool LoopValues::keeps_the_word(const Instruction& atomic) const {
  const std::string_view opcode = atomic.opcode;
  const std::vector<Operand>& operands = atomic.sources;
  std::int64_t value = 0;
  if (has_modifier(opcode, "cas") && operands.size() == 2) {
    std::int64_t second = 0;
    const bool same_constant = constant_of(operands[0], value) && constant_of(operands[1], second) && value == second;
    return same_constant || (operands[0].kind == OperandKind::variable && operands[1].kind == OperandKind::variable &&
                             operands[0].variable == operands[1].variable);
  }
  if (operands.size() != 1 || is_floating(opcode) || !constant_of(operands[0], value)) return false;
  const bool is_unsigned = has_modifier(opcode, "u32") || has_modifier(opcode, "u64");
  const bool all_ones = value == -1 || (bytes_of_type(opcode) == 4 && value == 0xffffffff);
  if (has_modifier(opcode, "add") || has_modifier(opcode, "or") || has_modifier(opcode, "xor")) return value == 0;
  if (has_modifier(opcode, "and")) return all_ones;
  if (has_modifier(opcode, "max")) return is_unsigned && value == 0;
  return has_modifier(opcode, "min") && is_unsigned && all_ones;
}

/// Whether the writer may write what the load reads, as far as their addresses tell.
bool LoopValues::may_write(const Instruction& writer, const Instruction& load) const {
  if (!writer.has_address || !load.has_address) return true;
  const std::string_view to = space_of(writer.opcode), from = space_of(load.opcode);
  if (!to.empty() && !from.empty() && to != from) return false;
  if (writer.address.kind != OperandKind::symbol || load.address.kind != OperandKind::symbol) return true;
  if (writer.address.name != load.address.name) return false;
  // Accesses of several elements, by vector instructions, are at most this long.
  constexpr std::int64_t kLongest = 32;
  return writer.offset < load.offset + kLongest && load.offset < writer.offset + kLongest;
}

bool LoopValues::loop_may_write(const Instruction& load) const {
  return std::any_of(writers_.begin(), writers_.end(),
                     [&](std::size_t writer) { return may_write(program_.code[writer], load); });
}

Reading LoopValues::reading_of(std::size_t index) const {
  const Instruction& instruction = program_.code[index];
  if (instruction.effect == Effect::load) {
    if (reads_constant_memory(instruction.opcode)) return Reading::constant;
    if (strong_load(instruction.opcode)) return Reading::strong;
    if (meets_ && reads_shared_memory(program_, program_writers_, instruction)) return Reading::strong;
    return fenced_ && !has_modifier(instruction.opcode, "local") ? Reading::strong : Reading::weak;
  }
  if (instruction.effect != Effect::atomic) return Reading::none;
  if (keeps_the_word(instruction)) return Reading::strong;
  const std::string_view opcode = instruction.opcode;
  const bool cas = has_modifier(opcode, "cas") && instruction.sources.size() == 2;
  const bool exchange = has_modifier(opcode, "exch") && instruction.sources.size() == 1;
  if (!cas && !exchange) return Reading::changes;
  const bool fixed = std::all_of(instruction.sources.begin(), instruction.sources.end(), [&](const Operand& operand) {
    const Value value = value_of(index, operand);
    return value.sources == 0 && value.polls.empty();
  });
  return fixed ? Reading::attempt : Reading::changes;
}

void LoopValues::number_nodes() {
  const auto add = [&](std::size_t instruction, int variable) {
    nodes_.push_back({instruction, variable});
    nodes_of_variable_[variable].push_back(static_cast<int>(nodes_.size()) - 1);
    return static_cast<int>(nodes_.size()) - 1;
  };
  for (const int block : loop_.blocks) {
    const Block& range = graph_.blocks[static_cast<std::size_t>(block)];
    for (std::size_t i = range.begin; i < range.end; ++i) {
      for (const int variable : program_.code[i].defines) {
        if (!header_node_.contains(variable)) header_node_[variable] = add(npos, variable);
        nodes_of_instruction_[i].push_back(add(i, variable));
      }
    }
  }
}

void LoopValues::step(std::size_t index, Set& reaching) const {
  const Instruction& instruction = program_.code[index];
  const auto found = nodes_of_instruction_.find(index);
  if (found == nodes_of_instruction_.end()) return;
  for (const int node : found->second) {
    const int variable = nodes_[static_cast<std::size_t>(node)].variable;
    if (instruction.guard < 0 && !instruction.partial) {
      for (const int other : nodes_of_variable_.at(variable)) {
        reaching[static_cast<std::size_t>(other) / 64] &= ~(1ull << (other % 64));
      }
    }
    reaching[static_cast<std::size_t>(node) / 64] |= 1ull << (node % 64);
  }
}

void LoopValues::find_reaching() {
  const std::size_t words = nodes_.size() / 64 + 1;
  at_begin_.assign(loop_.blocks.size(), Set(words, 0));
  for (const auto& [variable, node] : header_node_) {
    at_begin_[place_of(loop_.header)][static_cast<std::size_t>(node) / 64] |= 1ull << (node % 64);
  }
  at_back_edge_.assign(words, 0);
  std::vector<int> open(loop_.blocks.rbegin(), loop_.blocks.rend());
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    Set reaching = at_begin_[place_of(block)];
    const Block& range = graph_.blocks[static_cast<std::size_t>(block)];
    for (std::size_t i = range.begin; i < range.end; ++i) step(i, reaching);
    for (const int after : range.after) {
      if (!loop_.contains(after)) continue;
      Set& to = after == loop_.header ? at_back_edge_ : at_begin_[place_of(after)];
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

std::size_t LoopValues::place_of(int block) const {
  return static_cast<std::size_t>(std::lower_bound(loop_.blocks.begin(), loop_.blocks.end(), block) -
                                  loop_.blocks.begin());
}

/// What is asked for next is mostly the same instruction, or one behind it.
const LoopValues::Set& LoopValues::reaching_at(std::size_t instruction) const {
  const int block = graph_.block_of[instruction];
  if (reaching_before_ == npos || reaching_before_ > instruction || graph_.block_of[reaching_before_] != block) {
    reaching_ = at_begin_[place_of(block)];
    reaching_before_ = graph_.blocks[static_cast<std::size_t>(block)].begin;
  }
  for (; reaching_before_ < instruction; ++reaching_before_) step(reaching_before_, reaching_);
  return reaching_;
}

std::vector<int> LoopValues::nodes_of(const Set& reaching, int variable) const {
  std::vector<int> found;
  const auto nodes = nodes_of_variable_.find(variable);
  if (nodes == nodes_of_variable_.end()) return found;
  for (const int node : nodes->second) {
    if (reaching[static_cast<std::size_t>(node) / 64] >> (node % 64) & 1) found.push_back(node);
  }
  return found;
}

std::vector<std::size_t> LoopValues::writers_of(std::size_t instruction, int variable) const {
  std::vector<std::size_t> writers;
  for (const int node : nodes_of(reaching_at(instruction), variable)) {
    writers.push_back(nodes_[static_cast<std::size_t>(node)].instruction);
  }
  return writers;
}

std::vector<std::size_t> LoopValues::last_writers_of(int variable) const {
  std::vector<std::size_t> writers;
  for (const int node : nodes_of(at_back_edge_, variable)) {
    writers.push_back(nodes_[static_cast<std::size_t>(node)].instruction);
  }
  return writers;
}

/// The nodes whose values the node's value is made of.
std::vector<int> LoopValues::inputs_of(int node) const {
  const auto [index, variable] = nodes_[static_cast<std::size_t>(node)];
  if (index == npos) {
    std::vector<int> last = nodes_of(at_back_edge_, variable);
    last.erase(std::remove(last.begin(), last.end(), node), last.end());  // not written on some way
    return last;
  }
  const Instruction& instruction = program_.code[index];
  const Set& reaching = reaching_at(index);
  std::vector<int> inputs;
  const auto add = [&](int read) {
    for (const int from : nodes_of(reaching, read)) inputs.push_back(from);
  };
  for (const Operand& source : instruction.sources) {
    if (source.kind == OperandKind::variable) add(source.variable);
  }
  if (instruction.has_address && instruction.address.kind == OperandKind::variable) add(instruction.address.variable);
  if (instruction.guard >= 0) add(instruction.guard);
  if (instruction.partial) add(variable);
  return inputs;
}

Value LoopValues::value_of(std::size_t instruction, const Operand& operand) const {
  Value value;
  if (operand.kind == OperandKind::clock) value.sources |= kClock;
  if (operand.kind != OperandKind::variable) return value;
  for (const int node : nodes_of(reaching_at(instruction), operand.variable)) {
    value.add(values_[static_cast<std::size_t>(node)]);
  }
  return value;
}

const Value& LoopValues::result_of(std::size_t instruction) const {
  static const Value kNone;
  const auto found = results_.find(instruction);
  return found == results_.end() ? kNone : found->second;
}

/// A node's value from the values of its inputs, where no value depends on itself.
Value LoopValues::node_value(int node) const {
  const std::size_t index = nodes_[static_cast<std::size_t>(node)].instruction;
  Value inputs;
  for (const int input : inputs_[static_cast<std::size_t>(node)]) inputs.add(values_[static_cast<std::size_t>(input)]);
  if (index == npos) {
    if (!inputs.polls.empty()) inputs.sources |= kEarlier;
    return inputs;
  }
  const Instruction& instruction = program_.code[index];
  for (const Operand& source : instruction.sources) {
    if (source.kind == OperandKind::clock) inputs.sources |= kClock;
  }
  switch (instruction.effect) {
    case Effect::load:
    case Effect::atomic: {
      const Reading reading = reading_of(index);
      const Value address = address_of(index);
      constexpr std::uint32_t kChanging = kCounter | kSequence | kClock | kVaries | kCarried | kRewritten | kEarlier;
      Value value;
      if (reading == Reading::constant) return address;
      if (reading == Reading::weak) value.sources |= loop_may_write(instruction) ? kWeak | kRewritten : kWeak;
      if (reading == Reading::changes) value.sources |= kCarried;
      if (address.sources & kChanging) value.sources |= kVaries;
      if (address.sources & (kTurn | kInTurn)) value.sources |= address.polls.empty() ? kInTurn : kVaries;
      if (reading != Reading::weak) value.polls = {index};
      return value;
    }
    case Effect::hardware_wait: {
      Value value;
      value.sources = kHardware;
      return value;
    }
    case Effect::compute:
    case Effect::warp:
    case Effect::barrier:  // a vote of the block
      break;
    default:
      inputs.sources |= kCarried;  // the result of a call, of a texture
  }
  if ((inputs.sources & kCounter) && !is_linear(instruction.opcode)) {
    inputs.sources = (inputs.sources & ~kCounter) | kSequence;
  }
  return inputs;
}

/// Whether the node is a constant that the loop moves to a variable.
bool LoopValues::is_constant_move(int node) const {
  const std::size_t index = nodes_[static_cast<std::size_t>(node)].instruction;
  std::int64_t value = 0;
  return index != npos && program_.code[index].moves && constant_of(program_.code[index].sources[0], value);
}

/// The value of nodes that depend on themselves.
Value LoopValues::cycle_value(const std::vector<int>& cycle, const std::set<int>& members) const {
  bool carried = false, steps = true, integers = true, moves = true, round = false, in_turn = true;
  std::int64_t table = -1;
  Value outside;
  for (const int node : cycle) {
    const std::size_t index = nodes_[static_cast<std::size_t>(node)].instruction;
    for (const int input : inputs_[static_cast<std::size_t>(node)]) {
      if (members.contains(input)) continue;
      outside.add(values_[static_cast<std::size_t>(input)]);
      round |= (index == npos || program_.code[index].moves) && is_constant_move(input);  // it begins anew
    }
    if (index == npos) {
      carried = true;
      continue;
    }
    const Instruction& instruction = program_.code[index];
    if (instruction.effect != Effect::compute || is_floating(instruction.opcode)) {
      integers = steps = moves = false;
      continue;
    }
    const std::string_view mnemonic = mnemonic_of(instruction.opcode);
    for (const Operand& source : instruction.sources) {
      if (source.kind == OperandKind::clock) outside.sources |= kClock;
    }
    if (mnemonic == "selp" && instruction.sources.size() == 3) {
      round |=
          instruction.sources[0].kind == OperandKind::constant || instruction.sources[1].kind == OperandKind::constant;
    }
    if (instruction.moves || mnemonic == "selp" || mnemonic == "cvt" || mnemonic == "cvta") continue;
    moves = false;
    std::int64_t constant = 0;
    const bool by_constant = instruction.sources.size() == 2 && (constant_of(instruction.sources[0], constant) ||
                                                                 constant_of(instruction.sources[1], constant));
    if (mnemonic == "setp") continue;
    if (mnemonic == "and" || mnemonic == "rem" || (mnemonic == "xor" && by_constant)) {
      round = true;
    } else if (mnemonic != "not" && ((mnemonic != "add" && mnemonic != "sub") || !by_constant)) {
      in_turn = false;
    }
    if ((mnemonic == "and" || mnemonic == "rem") && by_constant && constant > 0 && constant < kLargestTable) {
      table = constant;
    } else if ((mnemonic != "add" && mnemonic != "sub") || !by_constant) {
      steps = false;
    }
  }
  Value value;
  if (!carried) {  // an inner loop's
    value = outside;
    if (integers && outside.polls.empty()) value.sources |= kWithinRound;
    if (!integers && outside.polls.empty() && (outside.sources & ~(kWeak)) == 0) value.sources |= kWithinRound;
    return value;
  }
  if (moves) {
    value = outside;
    if (!value.polls.empty()) value.sources |= kEarlier;
    return value;
  }
  const bool own = outside.polls.empty() && (outside.sources & ~(kWithinRound)) == 0;
  if (integers && own) {
    value.sources = table >= 0 && steps ? kTable : round && in_turn ? kTurn : steps ? kCounter : kSequence;
  } else {
    value = outside;
    value.sources |= kCarried;
  }
  return value;
}

/// Tarjan's algorithm for strongly connected components; it finishes a component after all that the component reads.
void LoopValues::evaluate() {
  const std::size_t count = nodes_.size();
  values_.assign(count, Value());
  inputs_.resize(count);
  for (std::size_t i = 0; i < count; ++i) inputs_[i] = inputs_of(static_cast<int>(i));
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
      if (path.back().input < inputs_[node].size()) {
        const auto input = static_cast<std::size_t>(inputs_[node][path.back().input++]);
        if (number[input] < 0) {
          path.push_back({static_cast<int>(input), 0});
        } else if (open[input]) {
          lowest[node] = std::min(lowest[node], number[input]);
        }
        continue;
      }
      if (lowest[node] == number[node]) {
        std::vector<int> component;
        while (true) {
          const int member = stack.back();
          stack.pop_back();
          open[static_cast<std::size_t>(member)] = false;
          component.push_back(member);
          if (member == static_cast<int>(node)) break;
        }
        const std::vector<int>& own = inputs_[node];
        const bool itself = std::find(own.begin(), own.end(), static_cast<int>(node)) != own.end();
        if (component.size() == 1 && !itself) {
          values_[node] = node_value(static_cast<int>(node));
        } else {
          const Value value = cycle_value(component, {component.begin(), component.end()});
          for (const int member : component) values_[static_cast<std::size_t>(member)] = value;
        }
      }
      path.pop_back();
      if (!path.empty()) {
        const auto parent = static_cast<std::size_t>(path.back().node);
        lowest[parent] = std::min(lowest[parent], lowest[node]);
      }
    }
  }
  for (const auto& [instruction, nodes] : nodes_of_instruction_) {
    for (const int node : nodes) results_[instruction].add(values_[static_cast<std::size_t>(node)]);
  }
}

}  // namespace wicprof::rewriter
