// The parameters of 64 bits that may be pointers, as they are or as cvta gives them, and that a program still needs at
// a place.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rewriter/flow/live_values.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

struct ParameterPointer {
  std::size_t statement = 0;  ///< in Function::statements: the only one that gives the register its value
  std::string_view name;      ///< the register, as that statement names it
};

/// Of the values that live at the beginning of `first`, an instruction, those that are a parameter alone. In the order
/// in which the code from there on reads them.
std::vector<ParameterPointer> parameter_pointers(const Function& function, const Program& program, const Live& live,
                                                 std::size_t first);

}  // namespace wicprof::rewriter
