#include "rewriter/waits/word.h"

#include <algorithm>

namespace wicprof::rewriter {

namespace {

bool is_integer_of(std::string_view opcode, std::string_view bits) {
  return opcode.ends_with(bits) &&
         (has_modifier(opcode, "u" + std::string(bits)) || has_modifier(opcode, "s" + std::string(bits)) ||
          has_modifier(opcode, "b" + std::string(bits)));
}

/// Whether the variable has what the poll has read, in each round behind it: others that write the variable stand
/// before the poll in its block.
bool writes_last(const LoopValues& values, std::size_t poll, int variable) {
  bool last = true;
  each_instruction(values.graph(), values.loop(), [&](std::size_t i) {
    const Instruction& instruction = values.program().code[i];
    const int block = values.graph().block_of[poll];
    const bool is_before = i < poll && values.graph().block_of[i] == block && values.program().code[poll].guard == -1;
    if (i != poll && !is_before) last &= std::ranges::count(instruction.defines, variable) == 0;
  });
  return last;
}

/// The register that a load writes: the first operand, which Triton puts into braces.
std::string_view first_register(const Statement& load) {
  const std::vector<Token>& tokens = load.tokens;
  if (tokens.size() > 3 && tokens[1].text == "{" && tokens[3].text == "}") return tokens[2].text;
  return tokens.size() > 1 ? tokens[1].text : std::string_view();
}

}  // namespace

std::optional<Word> word_of(const Function& function, const Names& names, const LoopValues& values, std::size_t poll,
                            const Statement& statement) {
  const Instruction& instruction = values.program().code[poll];
  if (instruction.inlined || !instruction.has_address || instruction.defines.size() != 1) return std::nullopt;
  for (const std::string_view other : {"shared", "local", "const", "param"}) {
    if (has_modifier(instruction.opcode, other)) return std::nullopt;
  }
  Word word;
  word.is_global = has_modifier(instruction.opcode, "global");
  word.is_64_bit = is_integer_of(instruction.opcode, "64");
  if (!word.is_64_bit && !is_integer_of(instruction.opcode, "32")) return std::nullopt;
  if (instruction.address.kind != OperandKind::variable ||
      values.flow().written_in_loop(instruction.address.variable) ||
      !writes_last(values, poll, instruction.defines.front())) {
    return std::nullopt;
  }
  word.address = instruction.address.name;
  word.offset = instruction.offset;
  word.poll = instruction.statement;
  const Statement& polls = function.statements[word.poll];
  word.value = first_register(polls);
  if (word.value.empty()) return std::nullopt;
  // A scope between the poll and the other place may give the names to other registers, or end theirs.
  for (const std::string_view name : {word.address, word.value}) {
    if (names.register_scope_of(name, polls.scope) != 0) return std::nullopt;
    if (names.register_scope_of(name, statement.scope) != 0) return std::nullopt;
  }
  return word;
}

std::optional<std::size_t> first_of(const Graph& graph, const std::set<std::size_t>& polls) {
  for (const std::size_t poll : polls) {
    const int block = graph.block_of[poll];
    const bool comes_first = std::ranges::all_of(polls, [&](std::size_t other) {
      return graph.block_of[other] == block ? other >= poll : graph.dominates(block, graph.block_of[other]);
    });
    if (comes_first) return poll;
  }
  return std::nullopt;
}

std::optional<std::size_t> visit_place(const Function& function, const Program& program, std::size_t poll) {
  const Instruction& instruction = program.code[poll];
  const std::vector<Statement>& statements = function.statements;
  std::size_t at = instruction.statement;
  if (at >= statements.size()) return std::nullopt;
  if (!instruction.inlined) return at;
  if (!statements[at].guard.empty()) return std::nullopt;
  // PTX wants nothing between a call and the reads of its result. nvcc puts both into a scope of their own.
  const auto reads_result = [](const Statement& statement) {
    return mnemonic_of(statement.opcode()) == "ld" && has_modifier(statement.opcode(), "param");
  };
  while (at + 1 < statements.size() && reads_result(statements[at + 1])) ++at;
  if (at + 1 < statements.size() && statements[at + 1].kind == StatementKind::close) ++at;
  return at;
}

}  // namespace wicprof::rewriter
