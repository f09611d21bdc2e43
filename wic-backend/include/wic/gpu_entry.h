// Registers a kernel, and with it its module, for loading when a GPU is opened (src/device/gpu_entries.h).
#pragma once

namespace wic::detail {

/// Returns true. Any thread; also before main().
bool register_gpu_entry(const void* entry);

}  // namespace wic::detail
