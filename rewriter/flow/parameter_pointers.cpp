#include "rewriter/flow/parameter_pointers.h"

#include <algorithm>
#include <tuple>

#include "rewriter/flow/live_values.h"

namespace wicprof::rewriter {

namespace {

// From a parameter to where it is used. Code that nothing reaches can make a circle.
constexpr int kLongestChain = 64;

/// Whether the variable is a parameter of 64 bits that may be a pointer, through moves and cvta alone.
bool is_parameter(const std::vector<const Instruction*>& makers, int variable) {
  for (int step = 0; step < kLongestChain; ++step) {
    const Instruction* const maker = makers[index_of(variable)];
    if (maker == nullptr || maker->inlined || bytes_of_type(maker->opcode) != 8 || has_modifier(maker->opcode, "f64"))
      return false;
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

ParameterPointers::ParameterPointers(const Function& function, const Program& program) : length_(program.code.size()) {
  const std::vector<const Instruction*> makers = makers_in(program);
  for (int variable = 0; variable < program.variables; ++variable) {
    if (!is_parameter(makers, variable)) continue;
    const std::size_t statement = makers[index_of(variable)]->statement;
    const std::vector<Token>& tokens = function.statements[statement].tokens;
    if (tokens.size() > 1 && tokens[1].text != "{") pointers_[variable].pointer = {statement, tokens[1].text};
  }
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    each_read(program.code[i], [&](int variable) {
      if (const auto found = pointers_.find(variable); found != pointers_.end()) found->second.reads.push_back(i);
    });
  }
}

std::vector<ParameterPointer> ParameterPointers::of(const std::vector<int>& variables, std::size_t first) const {
  std::vector<std::tuple<std::size_t, std::size_t, std::string_view>> found;
  for (const int variable : variables) {
    const auto pointer = pointers_.find(variable);
    if (pointer == pointers_.end() || pointer->second.reads.empty()) continue;
    const std::vector<std::size_t>& reads = pointer->second.reads;
    const auto next = std::lower_bound(reads.begin(), reads.end(), first);
    const std::size_t place = next != reads.end() ? *next - first : reads.front() + length_;
    found.emplace_back(place, pointer->second.pointer.statement, pointer->second.pointer.name);
  }
  std::ranges::sort(found);
  std::vector<ParameterPointer> pointers;
  for (const auto& [place, statement, name] : found) pointers.push_back({statement, name});
  return pointers;
}

}  // namespace wicprof::rewriter
