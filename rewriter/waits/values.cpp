#include "rewriter/waits/values.h"

#include <algorithm>
#include <array>
#include <optional>

#include "rewriter/flow/live_values.h"

namespace wicprof::rewriter {

namespace {

// A table that a loop goes round in to find the one word of several that is set. Larger ones may be hash tables, in
// which a program searches. The limit is the number of lanes of two warps; not calibrated.
constexpr std::int64_t kLargestTable = 64;

bool reads_constant_memory(std::string_view opcode) {
  return has_modifier(opcode, "const") || has_modifier(opcode, "nc") || has_modifier(opcode, "param") ||
         mnemonic_of(opcode) == "ldu";
}

/// Calls of the system that write nothing that the program reads.
bool leaves_memory(std::string_view callee) { return callee == "vprintf" || callee == "__assertfail"; }

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

}  // namespace

bool may_repeat_itself(const Instruction& atomic) {
  static constexpr std::array kOperations = {"exch", "or", "and", "min", "max"};
  if (has_modifier(atomic.opcode, "cas")) return atomic.sources.size() == 2;
  return atomic.sources.size() == 1 && std::ranges::any_of(kOperations, [&](const char* operation) {
           return has_modifier(atomic.opcode, operation);
         });
}

LoopValues::LoopValues(const Program& program, const Graph& graph, const Loop& loop,
                       const std::vector<std::vector<std::size_t>>& writers)
    : program_(program),
      graph_(graph),
      loop_(loop),
      flow_(graph, loop,
            [&](std::size_t i) {
              return LoopFlow::Writes{&program.code[i].defines, replaces_all(program.code[i])};
            }),
      program_writers_(writers) {
  std::vector<std::size_t> repeating;
  each_instruction(graph, loop, [&](std::size_t i) {
    const Instruction& instruction = program.code[i];
    const bool always = instruction.guard < 0 && graph.dominates(graph.block_of[i], loop.tail);
    fenced_ |= always && instruction.effect == Effect::fence;
    meets_ |= always && instruction.effect == Effect::barrier;
    switch (instruction.effect) {
      case Effect::atomic:
        if (!keeps_the_word(instruction)) (may_repeat_itself(instruction) ? repeating : writers_).push_back(i);
        break;
      case Effect::call:
        if (!leaves_memory(instruction.callee)) writers_.push_back(i);
        break;
      case Effect::store:
      case Effect::reduction:
      case Effect::asynchronous:
      case Effect::other_memory:
      case Effect::unknown:
        writers_.push_back(i);
        break;
      default:
        break;
    }
  });
  inputs_ = flow_.inputs([&](const LoopFlow::Node& node, const auto& use) {
    each_read(program_.code[node.instruction], use);
    if (program_.code[node.instruction].partial) use(node.variable);
  });
  values_.resize(inputs_.size());
  const std::vector<Component> order = components_of(inputs_);
  for (const Component& component : order) {
    const bool carried = std::ranges::any_of(
        component.nodes, [&](int node) { return flow_.nodes()[index_of(node)].instruction == LoopFlow::npos; });
    if (component.cyclic && carried) carried_.insert(component.nodes.begin(), component.nodes.end());
  }
  evaluate(order);
  // An atomic that writes the same in each round, if it writes, changes nothing that the round before has read. All are
  // taken for such; those that prove to be none may change what others write, so after some proofs none is.
  constexpr int kProofs = 3;
  for (int proof = 1; !repeating.empty(); ++proof) {
    const auto repeats = [&](std::size_t atomic) { return proof < kProofs && reading_of(atomic) == Reading::attempt; };
    const auto others = std::stable_partition(repeating.begin(), repeating.end(), repeats);
    if (others == repeating.end()) break;
    writers_.insert(writers_.end(), others, repeating.end());
    repeating.erase(others, repeating.end());
    evaluate(order);
  }
}

WaitedFor LoopValues::memory_of(const Instruction& load) const {
  const auto of_cluster = [](std::string_view opcode) {
    return mnemonic_of(opcode) == "mapa" || opcode.find(".shared::cluster") != std::string_view::npos;
  };
  if (of_cluster(load.opcode)) return WaitedFor::cluster_word;
  if (has_modifier(load.opcode, "shared")) return WaitedFor::shared_word;
  WaitedFor found = WaitedFor::word;
  std::set<int> seen;
  std::vector<Operand> open{load.address};
  while (!open.empty()) {
    const Operand operand = open.back();
    open.pop_back();
    if (operand.kind != OperandKind::variable || !seen.insert(operand.variable).second) continue;
    for (const std::size_t writer : program_writers_[index_of(operand.variable)]) {
      const Instruction& instruction = program_.code[writer];
      if (of_cluster(instruction.opcode)) return WaitedFor::cluster_word;
      if (mnemonic_of(instruction.opcode) == "cvta" && has_modifier(instruction.opcode, "shared")) {
        found = WaitedFor::shared_word;
      }
      if (instruction.effect != Effect::compute) continue;
      open.insert(open.end(), instruction.sources.begin(), instruction.sources.end());
    }
  }
  return found;
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

std::string_view LoopValues::symbol_of(Operand operand) const {
  constexpr int kLongestChain = 16;  // of moves; nvcc's code without optimization has three
  for (int step = 0; step < kLongestChain && operand.kind == OperandKind::variable; ++step) {
    const std::vector<std::size_t>& writers = program_writers_[index_of(operand.variable)];
    if (writers.size() != 1) return {};
    const Instruction& writer = program_.code[writers.front()];
    const std::string_view mnemonic = mnemonic_of(writer.opcode);
    if (writer.sources.size() != 1 || (mnemonic != "mov" && mnemonic != "cvt" && mnemonic != "cvta")) return {};
    operand = writer.sources.front();
  }
  return operand.kind == OperandKind::symbol ? operand.name : std::string_view();
}

/// The variable of the module of which the operand is an address, of an element too; empty: unknown.
std::string_view LoopValues::object_of(const Operand& operand, std::set<int>& seen) const {
  if (operand.kind == OperandKind::symbol) return operand.name;
  if (operand.kind != OperandKind::variable || !seen.insert(operand.variable).second) return {};
  std::string_view found;
  for (const std::size_t index : program_writers_[index_of(operand.variable)]) {
    const Instruction& writer = program_.code[index];
    const std::string_view mnemonic = mnemonic_of(writer.opcode);
    const bool adds = mnemonic == "add" && writer.sources.size() == 2;
    if (!adds && (writer.sources.size() != 1 || (mnemonic != "mov" && mnemonic != "cvt" && mnemonic != "cvta"))) {
      return {};
    }
    std::string_view object = object_of(writer.sources.front(), seen);
    if (adds) {
      const std::string_view second = object_of(writer.sources.back(), seen);
      if (!object.empty() && !second.empty()) return {};
      if (object.empty()) object = second;
    }
    if (object.empty() || (!found.empty() && object != found)) return {};
    found = object;
  }
  return found;
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
  if (from == "local" && (writer.effect == Effect::atomic || writer.effect == Effect::reduction)) return false;
  // What a pointer leads to is no element of an array, which has a computed address. Another pointer may lead there, to
  // a value of this size; stores behind the same pointer have variables.
  if (load.behind >= 0 && writer.effect == Effect::store && to != "local" &&
      (writer.behind < 0 || writer.behind == load.behind ||
       bytes_of_type(writer.opcode) != bytes_of_type(load.opcode))) {
    return false;
  }
  std::set<int> seen, seen_too;
  const std::string_view object = object_of(writer.address, seen);
  if (object.empty()) return true;
  if (const std::string_view other = object_of(load.address, seen_too); other.empty() || other != object) {
    return other.empty();
  }
  if (writer.address.kind != OperandKind::symbol || load.address.kind != OperandKind::symbol) return true;
  // Accesses of several elements, by vector instructions, are at most this long.
  constexpr std::int64_t kLongest = 32;
  return writer.offset < load.offset + kLongest && load.offset < writer.offset + kLongest;
}

bool LoopValues::loop_may_write(const Instruction& load) const {
  return std::ranges::any_of(writers_, [&](std::size_t writer) { return may_write(program_.code[writer], load); });
}

Reading LoopValues::reading_of(std::size_t index) const {
  const Instruction& instruction = program_.code[index];
  if (instruction.effect == Effect::load) {
    if (reads_constant_memory(instruction.opcode)) return Reading::constant;
    if (meets_ && reads_shared_memory(instruction)) return Reading::strong;
    const bool local = has_modifier(instruction.opcode, "local");
    return !local && (fenced_ || is_strong(instruction.opcode)) ? Reading::strong : Reading::weak;
  }
  if (instruction.effect != Effect::atomic) return Reading::none;
  if (keeps_the_word(instruction)) return Reading::strong;
  if (!may_repeat_itself(instruction)) return Reading::changes;
  // What stays as it is, or an ordinary load finds at a place that the loop does not write.
  const bool fixed = std::ranges::all_of(instruction.sources, [&](const Operand& operand) {
    const Value value = value_of(index, operand);
    return value.sources == 0 && std::ranges::all_of(value.polls, [&](std::size_t poll) {
             return program_.code[poll].behind >= 0 && !loop_may_write(program_.code[poll]);
           });
  });
  return fixed ? Reading::attempt : Reading::changes;
}

Value LoopValues::value_of(std::size_t instruction, const Operand& operand) const {
  Value value;
  if (operand.kind == OperandKind::clock) value.sources |= kClock;
  if (operand.kind != OperandKind::variable) return value;
  for (const int node : flow_.reaching(instruction, operand.variable)) value.add(values_[index_of(node)]);
  return value;
}

Value LoopValues::result_of(std::size_t instruction) const {
  Value value;
  for (const int node : flow_.written_by(instruction)) value.add(values_[index_of(node)]);
  return value;
}

std::set<int> LoopValues::made_of(std::size_t instruction) const {
  std::set<int> seen;
  std::vector<int> open;
  for (const Operand& source : program_.code[instruction].sources) {
    if (source.kind != OperandKind::variable) continue;
    const std::vector<int> from = flow_.reaching(instruction, source.variable);
    open.insert(open.end(), from.begin(), from.end());
  }
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    open.insert(open.end(), inputs_[index_of(node)].begin(), inputs_[index_of(node)].end());
  }
  return seen;
}

std::set<int> LoopValues::carried_into(std::size_t instruction) const {
  std::set<int> carried = made_of(instruction);
  std::erase_if(carried, [&](int node) { return flow_.nodes()[index_of(node)].instruction != LoopFlow::npos; });
  return carried;
}

bool LoopValues::compares_pauses(std::size_t instruction) const {
  std::set<int> pauses;
  each_instruction(graph_, loop_, [&](std::size_t i) {
    if (program_.code[i].effect == Effect::sleep) pauses.merge(carried_into(i));
  });
  const std::set<int> compared = carried_into(instruction);
  return !compared.empty() && std::ranges::includes(pauses, compared);
}

/// A node's value from the values of its inputs, where no value depends on itself.
Value LoopValues::node_value(int node) const {
  const std::size_t index = flow_.nodes()[index_of(node)].instruction;
  Value inputs;
  for (const int input : inputs_[index_of(node)]) inputs.add(values_[index_of(input)]);
  if (index == LoopFlow::npos) {
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
      if (reading == Reading::weak && loop_may_write(instruction)) value.sources |= kWeak | kRewritten;
      if (reading == Reading::weak && instruction.behind < 0) value.sources |= kWeak;
      if (reading == Reading::changes) value.sources |= kCarried;
      if (address.sources & kChanging) value.sources |= kVaries;
      if (address.sources & kTable) value.sources |= kInTable;
      if (address.sources & (kTurn | kInTurn)) value.sources |= address.polls.empty() ? kInTurn : kVaries;
      if (address.sources & (kMask | kByMask)) value.sources |= kByMask;
      if (reading != Reading::weak) {
        value.polls = {index};
      } else {
        for (const Operand& source : instruction.sources) {
          value.add(value_of(index, source));
          const std::vector<std::size_t> writers = flow_.writers_of(index, source.variable);
          if (std::ranges::count(writers, LoopFlow::npos) != 0) value.sources |= kEarlier;
        }
      }
      return value;
    }
    case Effect::store: {
      Value value;
      for (const Operand& source : instruction.sources) value.add(value_of(index, source));
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
  const std::size_t index = flow_.nodes()[index_of(node)].instruction;
  std::int64_t value = 0;
  return index != LoopFlow::npos && program_.code[index].moves && constant_of(program_.code[index].sources[0], value);
}

/// The value of nodes that depend on themselves.
Value LoopValues::cycle_value(const std::vector<int>& cycle) const {
  const std::set<int> members(cycle.begin(), cycle.end());
  bool carried = false, steps = true, integers = true, moves = true, round = false, in_turn = true, table = false;
  Value outside;
  for (const int node : cycle) {
    const std::size_t index = flow_.nodes()[index_of(node)].instruction;
    for (const int input : inputs_[index_of(node)]) {
      if (members.contains(input)) continue;
      outside.add(values_[index_of(input)]);
      round |= (index == LoopFlow::npos || program_.code[index].moves) && is_constant_move(input);  // it begins anew
    }
    if (index == LoopFlow::npos) {
      carried = true;
      continue;
    }
    const Instruction& instruction = program_.code[index];
    const std::string_view mnemonic = mnemonic_of(instruction.opcode);
    const auto is_outside = [&](const Operand& source) {
      return source.kind != OperandKind::variable ||
             std::ranges::none_of(flow_.reaching(index, source.variable), [&](int n) { return members.contains(n); });
    };
    if (instruction.behind >= 0 && is_outside(instruction.address)) continue;  // as a move
    if (instruction.effect != Effect::compute || is_floating(instruction.opcode)) {
      integers = steps = false;
      moves &= mnemonic == "shfl";  // from lane to lane
      continue;
    }
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
    // A mask or a divisor that the loop makes of the number itself limits nothing.
    if (((mnemonic == "and" || mnemonic == "rem") && std::ranges::any_of(instruction.sources, is_outside)) ||
        (mnemonic == "xor" && by_constant)) {
      round = true;
    } else if (mnemonic != "not" && ((mnemonic != "add" && mnemonic != "sub") || !by_constant)) {
      in_turn = false;
    }
    if ((mnemonic == "and" || mnemonic == "rem") && by_constant && constant > 0 && constant < kLargestTable) {
      table = true;
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
  if ((moves && (integers || !outside.polls.empty())) ||
      (integers && !outside.polls.empty() && !masks_of(cycle).empty())) {
    value = outside;
    if (!value.polls.empty()) value.sources |= kEarlier;
    return value;
  }
  const bool own = outside.polls.empty() && (outside.sources & ~(kWithinRound)) == 0;
  if (integers && own) {
    value.sources = table && steps ? kTable : round && in_turn ? kTurn : steps ? kCounter : kSequence;
  } else {
    value = outside;
    value.sources |= kCarried;
  }
  return value;
}

void LoopValues::evaluate(const std::vector<Component>& order) {
  clearing_.clear();
  for (const Component& component : order) {
    if (component.cyclic && evaluate_masks(component.nodes)) continue;
    const Value value = component.cyclic ? cycle_value(component.nodes) : node_value(component.nodes.front());
    for (const int node : component.nodes) values_[index_of(node)] = value;
  }
}

}  // namespace wicprof::rewriter
