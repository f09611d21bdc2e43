// The parameters of 64 bits that may be pointers, as they are or as cvta gives them, and that a program still needs at
// a place.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

struct ParameterPointer {
  std::size_t statement = 0;  ///< in Function::statements: the only one that gives the register its value
  std::string_view name;      ///< the register, as that statement names it
};

/// Those of a function. What is asked for takes time by the values given, not by the program's length.
class ParameterPointers {
 public:
  /// `function` must outlive the answers.
  ParameterPointers(const Function& function, const Program& program);

  /// Of `variables`, those that are a parameter alone, in the order in which the code from `first`, an instruction, on
  /// reads them.
  std::vector<ParameterPointer> of(const std::vector<int>& variables, std::size_t first) const;

 private:
  struct Pointer {
    ParameterPointer pointer;
    std::vector<std::size_t> reads;  ///< instructions, sorted
  };
  std::map<int, Pointer> pointers_;  // by variable
  std::size_t length_ = 0;
};

}  // namespace wicprof::rewriter
