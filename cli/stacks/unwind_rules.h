// How to get from one frame of a stack to its caller's: the rules that compilers write into .eh_frame for each
// instruction (DWARF 5, section 6.4; the form of the table: Linux Standard Base, Exception Frames).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cli/stacks/mapped_object.h"

namespace wicprof::cli {

/// Registers by their DWARF numbers on x86-64: 6 is rbp, 7 rsp, 16 the return address.
inline constexpr unsigned kFrameRegisters = 17, kStackPointer = 7, kReturnAddress = 16;

struct RegisterRule {
  enum class Kind : std::uint8_t { same, undefined, at_offset, offset, of_register, at_expression, expression };
  Kind kind = Kind::same;
  std::int64_t number = 0;       ///< an offset from the frame's address, or a register
  std::uint64_t expression = 0;  ///< where it begins: its length, then its operations
};

struct UnwindRules {
  bool of_signal = false;  ///< the frame is what the system made for a handler
  RegisterRule frame;      ///< the frame's address: `of_register` (`number`) plus frame_offset, or an expression
  std::int64_t frame_offset = 0;
  std::array<RegisterRule, kFrameRegisters> registers;
};

/// The rules for the instruction at `address`; nullopt: the object has none for it, or in a form that is not known.
std::optional<UnwindRules> unwind_rules(AddressSpace& memory, const MappedObject& object, std::uint64_t address);

}  // namespace wicprof::cli
