// The PTX of machine code that a compiler of the program has just made, from where that compiler leaves it.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::collector {

/// The PTX of `cubin`, or nothing: of a program's NVRTC, whose calls libwicprof_nvrtc.so watches; of Triton, which
/// keeps the PTX of each cubin in its cache.
std::string ptx_beside(std::string_view cubin);

}  // namespace wicprof::collector
