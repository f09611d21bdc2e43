// Makes the kernels of each source that can wait known to the runtime, those that are launched without wic/launch.h
// among them: opening a GPU loads them (src/device/gpu_entries.h).
#pragma once

#include "wic/gpu_entry.h"
#include "wic/platform.h"

namespace wic::detail {

#if WIC_CUDA_COMPILER
// Never launched: it names the module of this source, so each source has its own.
static __global__ void kernel_of_this_module() {}

[[maybe_unused]] static const bool kModuleRegistered =
    register_gpu_entry(reinterpret_cast<const void*>(&kernel_of_this_module));
#endif

}  // namespace wic::detail
