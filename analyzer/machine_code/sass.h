// Machine instructions of NVIDIA GPUs (SASS, as nvdisasm writes it), read as far as waiting is concerned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/format/rows.h"

namespace wicprof::analyzer {

enum class SassKind {
  other,     ///< nothing that matters here: moves, votes, reconvergence, no-ops
  load,      ///< from global, generic or shared memory
  store,     ///< to these, reductions included; not to local memory, where registers are spilled to
  atomic,    ///< returns the word's value
  try_wait,  ///< of an mbarrier
  fence,     ///< and what goes with it: ERRBAR, CCTL
  barrier,   ///< of the block or cluster
  sleep,     ///< NANOSLEEP
  branch,    ///< with a target in the function
  end,       ///< nothing runs after it: EXIT, RET, jumps to who knows where
  integer,
  floating,
  tensor,
};

/// Registers by number, one space for each kind: R0 is 0, UR0 is 1000, P0 is 2000, UP0 is 3000. RZ, PT and the like,
/// which hold no value of their own, have none.
using SassRegister = int;

struct SassInstruction {
  std::uint64_t offset = 0;
  std::string text;
  std::string operation;  ///< "LDG.E.STRONG.SYS"
  SassKind kind = SassKind::other;
  bool strong = false;              ///< a load that has to see what other threads have stored
  bool conditional = false;         ///< a guard predicate, or a branch on one
  std::vector<SassRegister> guard;  ///< what decides whether it takes effect
  std::vector<SassRegister> reads;  ///< the guard's and the address's included
  std::vector<SassRegister> writes;
  std::vector<SassRegister> address;  ///< of a load, a store or an atomic
  std::vector<std::string> operands;
  std::optional<std::uint64_t> target;
  std::string file;
  std::uint32_t line = 0;
};

/// Never fails: what cannot be read is `other` and touches no register.
SassInstruction decode(const store::SassRow& row);

/// Whether the dotted name `operation` has `part`: "STRONG" in "LDG.E.STRONG.SYS".
bool has_part(std::string_view operation, std::string_view part);

}  // namespace wicprof::analyzer
