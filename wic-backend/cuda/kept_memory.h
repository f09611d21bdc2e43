// Memory that is kept when it is released, for the next request of the same size. cudaFree and cudaFreeHost wait until
// no kernel runs on the device: beside a kernel of the program that waits for the freeing thread, they would hang.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "wic/device.h"

namespace wic::cuda {

/// On the calling thread's current context. Does not clear the memory. Any thread.
cudaError_t allocate_kept(void** memory, std::size_t bytes, Memory where);

/// Waits for the device's kernels only once more than 256 MiB are kept in a context; the program's own large arrays are
/// then freed as by cudaFree. `in_use`: a copy or a kernel of the backend may still write the memory, which is then
/// never used again. nullptr is fine. Any thread.
void release_kept(void* memory, bool in_use = false);

}  // namespace wic::cuda
