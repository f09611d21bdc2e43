// A function together with the functions that it calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/machine_code/sass.h"

namespace wicprof::analyzer {

/// The functions of one module by symbol; each has its instructions by offset.
using SassFunctions = std::map<std::string, std::vector<SassInstruction>>;

/// Where an instruction is in its module.
struct CodePlace {
  std::string symbol;
  std::uint64_t offset = 0;
  auto operator<=>(const CodePlace&) const = default;
};

struct Routine {
  /// The function's instructions, and after them a copy of each callee's instructions per call: the call is a branch to
  /// the copy, and the copy's return a branch back. Copies have offsets of their own. A call stays a call where its
  /// callee is unknown.
  std::vector<SassInstruction> code;
  std::vector<CodePlace> origins;  ///< of each instruction
};

/// `symbol`: one of `functions`. Follows calls of calls to a limited depth and length.
Routine with_callees(const SassFunctions& functions, const std::string& symbol);

}  // namespace wicprof::analyzer
