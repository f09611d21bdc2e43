// The look as a function of the module, and its call. In kernels with few values that is faster than the
// look in the loop: little code stands between the loop and what comes behind. Values that live across the call take
// registers that the function leaves alone; those that do not fit would go to local memory.
#pragma once

#include <string>
#include <vector>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// The functions of 64 bits leave the registers from the 16th to the 31st alone.
inline constexpr int kKeptAcrossCalls = 16;

/// Stands in the loop in the place of look_text(), with the same label behind it.
std::string call_text(const Site& site, const Table& table);

/// The call of a thread that leaves the function with the end of a wait to be recorded. `site`: any of the function
/// that records.
std::string leave_text(const Site& site, const Table& table);

/// The functions of the sites that call, and for each a variable with its address. They are called through that: then a
/// kernel keeps its own registers, where ptxas would give a function that is called by its name what the kernel has.
/// ptxas compiles all of them anew behind each kernel that calls one. So sites share them, but for those that differ in
/// what a look does.
std::string functions_text(const std::vector<Site>& sites, const Table& table);

}  // namespace wicprof::rewriter
