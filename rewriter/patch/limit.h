// A limit for the registers of a patched kernel.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof::rewriter {

/// The patched text with `.maxnreg` for the kernels named by their symbols; strip() takes the limits out as well. A
/// kernel that says itself how many registers it may have, or how many blocks an SM is to hold, stays as it is.
Result<std::string> limit_registers(std::string_view text, const std::map<std::string, int>& limits);

}  // namespace wicprof::rewriter
