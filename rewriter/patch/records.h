// Records of waits that begin and end, in the look's text.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// The function that writes a record.
std::string record_function_text(const Table& table);

/// Calls it for a wait that begins, and for the wait before, whose end is in the thread's state. Uses %g, %h, %v, %w,
/// %x and %p of the look.
std::string begin_text(const Table& table);
std::string end_text(const Table& table);

}  // namespace wicprof::rewriter
