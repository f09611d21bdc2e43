// Readable names of kernels and calls.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::collector {

/// A kernel's demangled name; a name that is not mangled is returned unchanged.
std::string readable_symbol(std::string_view symbol);

/// The function's own name: without namespaces, classes, arguments of templates and parameters.
std::string short_symbol(std::string_view symbol);

/// A call's name without the version that CUPTI appends: cudaLaunchKernel_v7000 becomes cudaLaunchKernel. The driver's
/// own suffixes (cuCtxPushCurrent_v2, cuStreamSynchronize_ptsz) are part of the name.
std::string_view plain_call_name(std::string_view name);

}  // namespace wicprof::collector
