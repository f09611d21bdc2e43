// Notices of `run --rewrite` that are told in one line, whatever their number.
#pragma once

#include <string_view>

namespace wicprof {

// "rewrite: kernel NAME stays as it is: its module has machine code only"
inline constexpr std::string_view kKernelNotice = "rewrite: kernel ",
                                  kMachineCodeOnly = " stays as it is: its module has machine code only";
// At the program's end: "rewrite: machine code only: 3 modules, 178 kernels"
inline constexpr std::string_view kMachineCodeTotal = "rewrite: machine code only: ";

}  // namespace wicprof
