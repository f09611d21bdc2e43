// The word that a wait polls, as other code at the loop's back edge can read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rewriter/flow/names.h"
#include "rewriter/flow/program.h"
#include "rewriter/waits/values.h"

namespace wicprof::rewriter {

/// At the back edge and behind the loop, `address` + `offset` is still the word's address, and `value` what the round's
/// poll has read.
struct Word {
  std::string_view address;  ///< a register
  std::int64_t offset = 0;   ///< in bytes
  std::string_view value;    ///< a register
  bool is_global = false;    ///< the poll names global memory; else the address is generic
  bool is_64_bit = false;    ///< else 32 bits
  std::size_t poll = 0;      ///< the statement that polls
};

/// The word of the loop's only poll; nothing where the loop's code does not show it: a smaller word, an address that
/// the loop writes, a poll in a function that the loop calls. `names`: those of `function`. `statement`: where the word
/// is to be read.
std::optional<Word> word_of(const Function& function, const Names& names, const LoopValues& values, std::size_t poll,
                            const Statement& statement);

}  // namespace wicprof::rewriter
