// The kernels that a program may launch with wic/launch.h, and one of each source that can wait. Opening a GPU loads
// them and all others of their modules: with CUDA's lazy loading, the first launch of a kernel can wait for running
// kernels, a deadlock if those wait for the new one.
#pragma once

#include <vector>

namespace wic::detail {

/// Any thread; also before main().
std::vector<const void*> gpu_entries();

}  // namespace wic::detail
