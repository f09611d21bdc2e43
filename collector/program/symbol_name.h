// Names as people know them.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::collector {

/// A kernel's name as it stands in its source; a name that is not mangled stays as it is.
std::string readable_symbol(std::string_view symbol);

/// A call's name without the version that CUPTI appends: cudaLaunchKernel_v7000 is cudaLaunchKernel. The driver's own
/// endings (cuCtxPushCurrent_v2, cuStreamSynchronize_ptsz) are part of the name.
std::string_view plain_call_name(std::string_view name);

}  // namespace wicprof::collector
