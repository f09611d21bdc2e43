// Which line an instruction of CPython belongs to.
#pragma once

#include <cstdint>
#include <string_view>

namespace wicprof::cli {

/// `table`: a code object's line table (CPython 3.11 to 3.13, as PEP 657 and CPython's Objects/locations.md define it).
/// `first`: the function's first line. `unit`: the instruction's number, in units of two bytes. The first line where
/// the table is cut off, or says nothing of the instruction.
std::uint32_t python_line(std::string_view table, std::uint32_t first, std::uint64_t unit);

}  // namespace wicprof::cli
