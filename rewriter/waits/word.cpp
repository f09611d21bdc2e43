#include "rewriter/waits/word.h"

#include <algorithm>

#include "rewriter/flow/names.h"

namespace wicprof::rewriter {

namespace {

bool is_integer_of(std::string_view opcode, std::string_view bits) {
  return opcode.ends_with(bits) &&
         (has_modifier(opcode, "u" + std::string(bits)) || has_modifier(opcode, "s" + std::string(bits)) ||
          has_modifier(opcode, "b" + std::string(bits)));
}

/// How many instructions of the loop write the variable.
std::size_t writers_in(const Program& program, const Graph& graph, const Loop& loop, int variable) {
  std::size_t writers = 0;
  for (const int b : loop.blocks) {
    const Block& block = graph.blocks[static_cast<std::size_t>(b)];
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const std::vector<int>& defines = program.code[i].defines;
      writers += std::find(defines.begin(), defines.end(), variable) != defines.end();
    }
  }
  return writers;
}

}  // namespace

std::optional<Word> word_of(const Function& function, const Program& program, const Loop& loop, const Graph& graph,
                            const LoopValues& values, std::size_t poll, const Statement& statement) {
  const Instruction& instruction = program.code[poll];
  if (instruction.inlined || !instruction.has_address || instruction.defines.size() != 1) return std::nullopt;
  for (const std::string_view other : {"shared", "local", "const", "param"}) {
    if (has_modifier(instruction.opcode, other)) return std::nullopt;
  }
  Word word;
  word.is_global = has_modifier(instruction.opcode, "global");
  word.is_64_bit = is_integer_of(instruction.opcode, "64");
  if (!word.is_64_bit && !is_integer_of(instruction.opcode, "32")) return std::nullopt;
  if (instruction.address.kind != OperandKind::variable || values.written_in_loop(instruction.address.variable) ||
      writers_in(program, graph, loop, instruction.defines.front()) != 1) {
    return std::nullopt;
  }
  word.address = instruction.address.name;
  word.offset = instruction.offset;
  word.poll = instruction.statement;
  const Statement& polls = function.statements[word.poll];
  if (polls.tokens.size() < 2) return std::nullopt;
  word.value = polls.tokens[1].text;
  // A scope between the poll and the other place may give the names to other registers, or end theirs.
  const Names names(function);
  for (const std::string_view name : {word.address, word.value}) {
    if (names.register_scope_of(name, polls.scope) != 0) return std::nullopt;
    if (names.register_scope_of(name, statement.scope) != 0) return std::nullopt;
  }
  return word;
}

}  // namespace wicprof::rewriter
