// What is known of a thread's registers and of the words of its stack, and what an instruction makes of that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/sass.h"

namespace wicprof::analyzer {

/// stack * (stack pointer at the entry) + local * (begin of the local memory) + upper * (its upper half) + constant.
struct Sum {
  int stack = 0, local = 0, upper = 0;
  std::int64_t constant = 0;
  std::uint8_t unknown = 0;  // bytes of a constant that are not known
  bool operator==(const Sum&) const = default;
  bool is_address() const { return stack != 0 || local != 0 || upper != 0; }
};
using Value = std::optional<Sum>;  // nullopt: not known
/// Of registers and of words of the stack.
using Values = std::map<SassRegister, Sum>;

/// An access to words of the stack.
struct StackAccess {
  bool store = false;
  std::vector<SassRegister> words;
  std::string_view data;  ///< the operand with the register that is loaded or stored
};

/// What an instruction writes.
struct Written {
  SassRegister r;
  Value value;
};

/// "R4", "R4.64", "UR4.reuse": its number.
std::optional<SassRegister> register_of(std::string_view text);

/// nullopt: not known.
Value read(const Values& values, SassRegister r);

/// nullopt: no access to the stack, or of a word that is not known.
std::optional<StackAccess> stack_access(const Values& values, const SassInstruction& instruction);

/// What an instruction that is no load writes; nullopt: that is not known.
std::optional<Written> result_of(const Values& values, const SassInstruction& instruction);

/// Whether an instruction takes effect; nullopt: that depends.
std::optional<bool> takes_effect(const Values& values, const SassInstruction& instruction);

/// `certain`: the instruction takes effect, whatever its guard.
void execute(Values& values, const SassInstruction& instruction, bool certain);

}  // namespace wicprof::analyzer
