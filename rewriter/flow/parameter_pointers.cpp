#include "rewriter/flow/parameter_pointers.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wicprof::rewriter {

namespace {

/// Of each variable: the only instruction that writes it, if it always does and writes nothing else; else nullptr.
std::vector<const Instruction*> makers_of(const Program& program) {
  std::vector<const Instruction*> makers(index_of(program.variables));
  std::vector<int> writers(index_of(program.variables));
  for (const Instruction& instruction : program.code) {
    const bool alone = !instruction.inlined && instruction.guard == -1 && instruction.defines.size() == 1;
    for (const int variable : instruction.defines) {
      makers[index_of(variable)] = ++writers[index_of(variable)] == 1 && alone ? &instruction : nullptr;
    }
  }
  return makers;
}

/// Whether the variable is a parameter of 64 bits that may be a pointer, through moves and cvta alone.
bool is_parameter(const std::vector<const Instruction*>& makers, int variable) {
  std::size_t steps = 0;  // fewer than there are variables, but where code that nothing reaches makes a circle
  while (steps++ < makers.size()) {
    const Instruction* const maker = makers[index_of(variable)];
    if (maker == nullptr || bytes_of_type(maker->opcode) != 8 || has_modifier(maker->opcode, "f64")) return false;
    const std::string_view what = mnemonic_of(maker->opcode);
    if (what == "ld" && has_modifier(maker->opcode, "param")) return true;
    if ((what != "cvta" && what != "mov") || maker->sources.size() != 1 ||
        maker->sources.front().kind != OperandKind::variable) {
      return false;
    }
    variable = maker->sources.front().variable;
  }
  return false;
}

}  // namespace

std::vector<ParameterPointer> parameter_pointers(const Function& function, const Program& program, const Live& live,
                                                 std::size_t first) {
  const std::vector<const Instruction*> makers = makers_of(program);
  std::map<int, std::size_t> read_at;  // by variable: what the code at and behind `first` reads, then the rest
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const std::size_t place = i >= first ? i - first : i + program.code.size();
    each_read(program.code[i], [&](int variable) {
      if (!live[index_of(variable)]) return;
      const auto [known, is_new] = read_at.try_emplace(variable, place);
      if (!is_new) known->second = std::min(known->second, place);
    });
  }
  std::vector<std::tuple<std::size_t, std::size_t, std::string_view>> found;
  for (const auto& [variable, place] : read_at) {
    if (!is_parameter(makers, variable)) continue;
    const std::size_t statement = makers[index_of(variable)]->statement;
    const std::vector<Token>& tokens = function.statements[statement].tokens;
    if (tokens.size() > 1 && tokens[1].text != "{") found.emplace_back(place, statement, tokens[1].text);
  }
  std::sort(found.begin(), found.end());
  std::vector<ParameterPointer> pointers;
  for (const auto& [place, statement, name] : found) pointers.push_back({statement, name});
  return pointers;
}

}  // namespace wicprof::rewriter
