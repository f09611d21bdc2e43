#include "rewriter/flow/live_values.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <vector>

namespace wicprof::rewriter {

namespace {

bool replaces_all(const Instruction& instruction) { return instruction.guard < 0 && !instruction.partial; }

/// Of a block: what it reads before it writes it, and what it writes in any case.
struct Uses {
  Live reads, writes;
};

Uses uses_of(const Program& program, const Block& block) {
  Uses uses{Live(index_of(program.variables)), Live(index_of(program.variables))};
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Instruction& instruction = program.code[i];
    each_read(instruction, [&](int variable) {
      if (!uses.writes[index_of(variable)]) uses.reads[index_of(variable)] = true;
    });
    if (!replaces_all(instruction)) continue;
    for (const int variable : instruction.defines) uses.writes[index_of(variable)] = true;
  }
  return uses;
}

enum class Width { predicate, one, two };

/// Of the values that the instruction writes: its first type is theirs.
Width width_of(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const std::string_view what = mnemonic_of(opcode);
  if (what == "setp" || has_modifier(opcode, "pred")) return Width::predicate;
  if (what == "popc" || what == "clz" || what == "bfind" || instruction.defines.size() > 1) return Width::one;
  if (has_modifier(opcode, "wide")) return Width::two;
  for (std::size_t at = opcode.find('.'); at != std::string_view::npos; at = opcode.find('.', at + 1)) {
    const std::string_view part = opcode.substr(at + 1, opcode.find('.', at + 1) - at - 1);
    if (part.size() < 3 || std::string_view("usbf").find(part.front()) == std::string_view::npos) continue;
    if (part.substr(1) == "64") return Width::two;
    if (part.substr(1) == "32" || part.substr(1) == "16") return Width::one;
  }
  return Width::one;
}

bool is_of_the_thread(std::string_view special) { return special.starts_with("%tid") || special.starts_with("%lane"); }

/// Whether all threads of the block have the same value of this instruction: such a value takes no register of theirs,
/// since sm_75, or is computed again where it is needed.
bool is_shared(const Instruction& instruction, const Live& shared) {
  if (has_modifier(instruction.opcode, "param")) return true;
  if (instruction.effect != Effect::compute || instruction.guard >= 0) return false;
  return std::all_of(instruction.sources.begin(), instruction.sources.end(), [&](const Operand& source) {
    if (source.kind == OperandKind::variable) return static_cast<bool>(shared[index_of(source.variable)]);
    return source.kind != OperandKind::clock && !(source.kind == OperandKind::special && is_of_the_thread(source.name));
  });
}

}  // namespace

int declared_registers(const Function& function) {
  int values = 0;
  for (const Statement& statement : function.statements) {
    if (statement.opcode() != ".reg" || statement.tokens.size() < 3) continue;
    const std::string_view type = statement.tokens[1].text;
    if (type == ".pred") continue;
    int names = 1;
    for (std::size_t i = 2; i < statement.tokens.size(); ++i) {
      const std::string_view token = statement.tokens[i].text;
      int count = 0;
      if (token == ",") ++names;
      if (std::from_chars(token.data(), token.data() + token.size(), count).ec == std::errc()) names += count - 1;
    }
    values += type.ends_with("64") ? 2 * names : names;
  }
  return values;
}

Live live_at(const Program& program, const Graph& graph, int block) {
  std::vector<Uses> uses;
  for (const Block& each : graph.blocks) uses.push_back(uses_of(program, each));
  std::vector<Live> live;
  for (const Uses& each : uses) live.push_back(each.reads);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = graph.blocks.size(); b-- > 0;) {
      for (const int after : graph.blocks[b].after) {
        const Live& from = live[index_of(after)];
        for (std::size_t variable = 0; variable < from.size(); ++variable) {
          if (!from[variable] || live[b][variable] || uses[b].writes[variable]) continue;
          live[b][variable] = changed = true;
        }
      }
    }
  }
  return live[index_of(block)];
}

int live_registers(const Program& program, const Live& live) {
  std::vector<int> writers(index_of(program.variables), 0);
  for (const Instruction& instruction : program.code) {
    for (const int variable : instruction.defines) ++writers[index_of(variable)];
  }
  Live shared(index_of(program.variables)), predicate(index_of(program.variables)), wide(index_of(program.variables));
  for (const Instruction& instruction : program.code) {
    for (const int variable : instruction.defines) {
      if (writers[index_of(variable)] == 1 && is_shared(instruction, shared)) shared[index_of(variable)] = true;
      const Width width = width_of(instruction);
      if (width == Width::predicate) predicate[index_of(variable)] = true;
      if (width == Width::two) wide[index_of(variable)] = true;
    }
  }
  int registers = 0;
  bool has_predicate = false;
  for (std::size_t variable = 0; variable < live.size(); ++variable) {
    if (!live[variable] || shared[variable]) continue;
    if (predicate[variable]) {
      has_predicate = true;
    } else {
      registers += wide[variable] ? 2 : 1;
    }
  }
  return registers + (has_predicate ? 1 : 0);
}

}  // namespace wicprof::rewriter
