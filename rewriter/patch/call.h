// The look as a function of the module, and its call. In kernels with few values that is faster than the
// look in the loop: little code stands between the loop and what comes behind. Values that live across the call take
// registers that the function leaves alone; those that do not fit would go to local memory.
#pragma once

#include <string>
#include <vector>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// A function leaves the registers from the 16th to the 31st alone, and two of them hold where it returns to.
inline constexpr int kKeptAcrossCalls = 14;
/// As declared_registers() counts them (chosen): of 339 kernels, those that had values on the stack though no more than
/// kKeptAcrossCalls lived across the wait had 270 and 473 (docs/results/rewrite_forms.txt).
inline constexpr int kMostValuesOfCaller = 200;

/// Stands in the loop in the place of look_text(), with the same label behind it.
std::string call_text(const Site& site, const Table& table);

/// The call of a thread that leaves the function with the end of a wait to be recorded: a look without rounds. `site`:
/// any of the function that records.
std::string leave_text(const Site& site, const Table& table);

/// The functions of the sites that call, and for each a variable with its address. They are called through that: then a
/// kernel keeps its own registers, where ptxas would give a function that is called by its name what the kernel has.
/// ptxas compiles all of them anew behind each kernel that calls one. So sites share them, but for those that differ in
/// what a look does.
std::string functions_text(const std::vector<Site>& sites, const Table& table);

}  // namespace wicprof::rewriter
