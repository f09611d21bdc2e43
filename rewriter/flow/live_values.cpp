#include "rewriter/flow/live_values.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

namespace wicprof::rewriter {

namespace {

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
bool is_shared(const Instruction& instruction, const std::vector<bool>& shared) {
  if (has_modifier(instruction.opcode, "param")) return true;
  if (instruction.effect != Effect::compute || instruction.guard >= 0) return false;
  return std::ranges::all_of(instruction.sources, [&](const Operand& source) {
    if (source.kind == OperandKind::variable) return static_cast<bool>(shared[index_of(source.variable)]);
    return source.kind != OperandKind::clock && !(source.kind == OperandKind::special && is_of_the_thread(source.name));
  });
}

}  // namespace

int declared_registers(const Function& function) {
  std::int64_t values = 0;  // a text may declare any number
  for (const Statement& statement : function.statements) {
    if (statement.opcode() != ".reg" || statement.tokens.size() < 3) continue;
    const std::string_view type = statement.tokens[1].text;
    if (type == ".pred") continue;
    std::int64_t names = 1;
    for (std::size_t i = 2; i < statement.tokens.size(); ++i) {
      const std::string_view token = statement.tokens[i].text;
      int count = 0;
      if (token == ",") ++names;
      if (std::from_chars(token.data(), token.data() + token.size(), count).ec == std::errc()) names += count - 1;
    }
    values += type.ends_with("64") ? 2 * names : names;
  }
  return static_cast<int>(std::min<std::int64_t>(values, std::numeric_limits<int>::max()));
}

LiveValues::LiveValues(const Program& program, const Graph& graph)
    : graph_(graph),
      reads_(index_of(program.variables)),
      replaces_(index_of(program.variables)),
      lives_(graph.blocks.size()),
      replaced_(graph.blocks.size()) {
  const auto is_last = [](const std::vector<int>& blocks, int block) {
    return !blocks.empty() && blocks.back() == block;
  };
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const int block = static_cast<int>(b);
    for (std::size_t i = graph.blocks[b].begin; i < graph.blocks[b].end; ++i) {
      const Instruction& instruction = program.code[i];
      each_read(instruction, [&](int variable) {
        std::vector<int>& reads = reads_[index_of(variable)];
        if (!is_last(replaces_[index_of(variable)], block) && !is_last(reads, block)) reads.push_back(block);
      });
      if (!replaces_all(instruction)) continue;
      for (const int variable : instruction.defines) {
        std::vector<int>& replaces = replaces_[index_of(variable)];
        if (!is_last(replaces, block)) replaces.push_back(block);
      }
    }
  }
}

/// Calls visit(block) for each block at whose beginning the variable lives.
template <class Visit>
void LiveValues::each_block(int variable, Visit visit) {
  ++call_;
  for (const int block : replaces_[index_of(variable)]) replaced_[index_of(block)] = call_;
  std::vector<int> open = reads_[index_of(variable)];
  for (const int block : open) lives_[index_of(block)] = call_;
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    visit(block);
    for (const int before : graph_.block(block).before) {
      if (lives_[index_of(before)] == call_ || replaced_[index_of(before)] == call_) continue;
      lives_[index_of(before)] = call_;
      open.push_back(before);
    }
  }
}

bool LiveValues::lives(int variable, int block) {
  bool found = false;
  each_block(variable, [&](int each) { found |= each == block; });
  return found;
}

std::vector<std::vector<int>> LiveValues::at(const std::vector<int>& blocks) {
  std::vector<std::vector<int>> live_in(graph_.blocks.size());
  std::vector<bool> wanted(graph_.blocks.size());
  for (const int block : blocks) wanted[index_of(block)] = true;
  for (std::size_t variable = 0; variable < reads_.size(); ++variable) {
    each_block(static_cast<int>(variable), [&](int block) {
      if (wanted[index_of(block)]) live_in[index_of(block)].push_back(static_cast<int>(variable));
    });
  }
  std::vector<std::vector<int>> found;
  for (const int block : blocks) found.push_back(live_in[index_of(block)]);
  return found;
}

RegisterCount::RegisterCount(const Program& program)
    : shared_(index_of(program.variables)), predicate_(shared_.size()), wide_(shared_.size()) {
  const std::vector<std::vector<std::size_t>> writers = writers_in(program);
  for (const Instruction& instruction : program.code) {
    for (const int variable : instruction.defines) {
      // What is in memory takes no register.
      if (instruction.effect == Effect::store ||
          (writers[index_of(variable)].size() == 1 && is_shared(instruction, shared_)))
        shared_[index_of(variable)] = true;
      const Width width = width_of(instruction);
      if (width == Width::predicate) predicate_[index_of(variable)] = true;
      if (width == Width::two) wide_[index_of(variable)] = true;
    }
  }
}

int RegisterCount::of(const std::vector<int>& variables) const {
  int registers = 0;
  bool has_predicate = false;
  for (const int variable : variables) {
    if (shared_[index_of(variable)]) continue;
    if (predicate_[index_of(variable)]) {
      has_predicate = true;
    } else {
      registers += wide_[index_of(variable)] ? 2 : 1;
    }
  }
  return registers + (has_predicate ? 1 : 0);
}

}  // namespace wicprof::rewriter
