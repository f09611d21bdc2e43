// Values that an instruction need not look for: what the code before it has just stored, or compared with another.
#pragma once

#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// A load of what the same straight code has stored moves the stored value. Where two registers were found equal, the
/// one that was not loaded replaces the other: nvcc does so, but not without optimization.
void use_same_values(Program& program);

}  // namespace wicprof::rewriter
