// Notices of `run --rewrite` that are told in one line, whatever their number.
#pragma once

#include <string_view>

namespace wicprof {

// "rewrite: kernel NAME stays as it is: its module has machine code only"
inline constexpr std::string_view kKernelNotice = "rewrite: kernel ",
                                  kMachineCodeOnly = " stays as it is: its module has machine code only";
// At the end of a process: "rewrite: kernels of machine code only: 178 in modules: 3"
inline constexpr std::string_view kMachineCodeKernels = "rewrite: kernels of machine code only: ",
                                  kMachineCodeModules = " in modules: ";

}  // namespace wicprof
