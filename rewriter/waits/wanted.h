// The value that a wait wants of its word, where the code's comparison has a constant.
#pragma once

#include <cstddef>

#include "protocol/wanted_value.h"
#include "rewriter/waits/values.h"
#include "rewriter/waits/ways_out.h"

namespace wicprof::rewriter {

/// `poll`: the loop's only poll, of 32 or 64 bits. The relation is unknown where the value is compared with something
/// that is no constant (a parameter, say), more than once, or after other arithmetic than a mask.
WantedValue wanted_of(const LoopValues& values, std::size_t poll, bool is_64_bit);

}  // namespace wicprof::rewriter
