#include "rewriter/flow/memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace wicprof::rewriter {

namespace {

/// Where an address surely points.
struct Place {
  /// A function's own local memory: its name, and which call of its function it belongs to. Or what is behind a
  /// pointer that stays as it is: no name, and the variable that has the pointer.
  std::pair<std::string_view, std::int64_t> object;
  std::int64_t offset = 0;
  bool is_local() const { return !object.first.empty(); }
};

struct Access {
  std::size_t instruction;
  Place place;
  std::int64_t bytes;
  std::size_t elements;
  bool loads;
};

class Memory {
 public:
  explicit Memory(Program& program) : program_(program) {}

  void run() {
    std::vector<Access> accesses;
    // Pointers may themselves be kept in such memory, so each round can find more.
    for (int round = 0; round < 8; ++round) {
      const std::size_t known = accesses.size();
      find_accesses(accesses);
      if (accesses.size() == known) break;
      for (std::size_t i = known; i < accesses.size(); ++i) {
        std::map<std::int64_t, int>& pieces = pieces_[accesses[i].place.object];
        for (const std::int64_t bytes : {std::int64_t{0}, accesses[i].bytes}) {
          pieces.try_emplace(accesses[i].place.offset + bytes, -1);
        }
      }
      for (const Access& access : accesses) give_variables(access);
    }
    forget_unshared(accesses);
  }

 private:
  std::optional<Place> place_of(const std::vector<const Instruction*>& makers, const std::vector<bool>& written,
                                const Operand& operand, int depth = 0) const {
    if (depth > 64) return std::nullopt;
    if (operand.kind == OperandKind::symbol) {
      // nvcc names each function's local memory so.
      if (operand.name.find("__local_depot") == std::string_view::npos) return std::nullopt;
      return Place{{operand.name, operand.constant}, 0};
    }
    if (operand.kind != OperandKind::variable) return std::nullopt;
    const auto variable = static_cast<std::size_t>(operand.variable);
    if (!written[variable]) return Place{{{}, operand.variable}, 0};
    const Instruction* const from = makers[variable];
    if (from == nullptr || from->sources.empty()) return std::nullopt;
    const std::string_view mnemonic = mnemonic_of(from->opcode);
    if (from->moves || mnemonic == "cvta" || (from->behind >= 0 && from->sources.size() == 1 && mnemonic == "ld")) {
      return place_of(makers, written, from->sources[0], depth + 1);
    }
    if (mnemonic != "add" || from->sources.size() != 2 || from->sources[1].kind != OperandKind::constant) {
      return std::nullopt;
    }
    std::optional<Place> place = place_of(makers, written, from->sources[0], depth + 1);
    if (place) place->offset += from->sources[1].constant;
    return place;
  }

  /// Adds those that are none of the known ones; no loads that must see what others store.
  void find_accesses(std::vector<Access>& accesses) const {
    const std::vector<const Instruction*> makers = makers_in(program_);
    std::vector<bool> written(makers.size());
    for (const Instruction& instruction : program_.code) {
      for (const int variable : instruction.defines) written[static_cast<std::size_t>(variable)] = true;
    }
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      const Instruction& instruction = program_.code[i];
      const bool loads = instruction.effect == Effect::load;
      if (!instruction.has_address || (!loads && instruction.effect != Effect::store) || instruction.behind >= 0)
        continue;
      const std::optional<Place> place = place_of(makers, written, instruction.address);
      if (!place || (loads && !place->is_local() && is_strong(instruction.opcode))) continue;
      const std::size_t elements = loads ? instruction.defines.size() : instruction.sources.size();
      const auto bytes = static_cast<std::int64_t>(elements) * std::max(1, bytes_of_type(instruction.opcode));
      accesses.push_back({i, {place->object, place->offset + instruction.offset}, bytes, elements, loads});
    }
  }

  void give_variables(const Access& access) {
    std::map<std::int64_t, int>& pieces = pieces_[access.place.object];
    std::vector<int> variables;
    for (auto piece = pieces.find(access.place.offset); piece->first < access.place.offset + access.bytes; ++piece) {
      if (piece->second < 0) piece->second = program_.variables++;
      variables.push_back(piece->second);
    }
    Instruction& instruction = program_.code[access.instruction];
    if (access.place.is_local()) {
      instruction.effect = Effect::compute;
      instruction.has_address = false;
      instruction.moves = access.elements == 1 && variables.size() == 1;
    } else {
      instruction.behind = static_cast<int>(access.place.object.second);
    }
    if (!access.loads) {
      instruction.defines = std::move(variables);
      return;
    }
    instruction.sources.clear();
    for (const int variable : variables) instruction.sources.push_back({OperandKind::variable, variable});
  }

  /// Of what is behind pointers, only the variables stay that the function both writes and reads.
  void forget_unshared(const std::vector<Access>& accesses) {
    std::set<int> written, read;
    for (const Access& access : accesses) {
      const Instruction& instruction = program_.code[access.instruction];
      if (!access.loads) written.insert(instruction.defines.begin(), instruction.defines.end());
      if (!access.loads) continue;
      for (const Operand& source : instruction.sources) read.insert(source.variable);
    }
    for (const Access& access : accesses) {
      Instruction& instruction = program_.code[access.instruction];
      if (instruction.behind < 0) continue;
      if (access.loads) {
        std::erase_if(instruction.sources, [&](const Operand& each) { return !written.contains(each.variable); });
      } else {
        std::erase_if(instruction.defines, [&](int variable) { return !read.contains(variable); });
      }
    }
  }

  Program& program_;
  // By object: where pieces begin, and their variables; -1: nothing has read or written it.
  std::map<std::pair<std::string_view, std::int64_t>, std::map<std::int64_t, int>> pieces_;
};

}  // namespace

void find_memory(Program& program) { Memory(program).run(); }

}  // namespace wicprof::rewriter
