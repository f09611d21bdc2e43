// What code that a patch adds can use: the word that a wait polls, and the place behind the poll.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
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

/// Of the polls, the one that each thread passes before the others, if there is one.
std::optional<std::size_t> first_of(const Graph& graph, const std::set<std::size_t>& polls);

/// The statement behind which a visit stands that follows the poll: the poll itself; where the poll is in a function
/// that the loop calls, the end of that call, with the reads of its result. The visit is executed by the threads that
/// poll, and its branches meet behind it: so a barrier behind the poll finds all threads of a warp as before. Nothing:
/// there is no such place.
std::optional<std::size_t> visit_place(const Function& function, const Program& program, std::size_t poll);

}  // namespace wicprof::rewriter
