// What an expression in a table for unwinding comes to (DWARF 5, section 2.5). Entries of procedure linkage tables have
// some.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cli/stacks/unwind_rules.h"

namespace wicprof::cli {

using FrameValues = std::array<std::uint64_t, kFrameRegisters>;

/// `at`: of its length. `first`: what lies on its stack before; nullopt: nothing. nullopt: an operation that is not
/// known, or a word that cannot be read.
std::optional<std::uint64_t> evaluate(AddressSpace& memory, std::uint64_t at, const FrameValues& values,
                                      std::optional<std::uint64_t> first);

}  // namespace wicprof::cli
