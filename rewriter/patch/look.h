// The function with which waiting threads look: once per module, and called by all patched loops of it. So ptxas has
// less to compile, and little stands between a loop and what comes behind.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// The name of a variable that holds the function's address. It is called through that: then a kernel keeps its own
/// registers, where ptxas would give a function that is called by its name what the kernel has.
std::string look_pointer(const Table& table);

/// The function and that variable:
/// __wic_look_HASH (state, site, n, l, value, word) -> n and l, in 64 bits
///   state: u64, the thread's ThreadState, an address in local memory
///   site: u32, SiteBits
///   n: u32, rounds of the wait, and what thread_state.h says of their high bits
///   l: u32, when the look was due: the low 32 bits of the device's clock. The result's l: in how many ns the next look
///      is due, from the caller's next reading of the clock on; 0 for a thread that visits in each round
///   value: u64, what the round's poll has read
///   word: u64, the generic address of the polled word
/// The call ends in bounded time whatever others do. It reads the polled word and the table, and writes the table, a
/// record and the state.
std::string look_text(const Table& table);

}  // namespace wicprof::rewriter
