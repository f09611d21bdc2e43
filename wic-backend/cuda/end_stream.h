// Ends streams of the backend without waiting for kernels of the program.
#pragma once

#include <cuda_runtime_api.h>

namespace wic::cuda {

/// Waits for the stream's work for at most 100 ms: that work is short, but a kernel that fills the GPU may keep it from
/// starting. Then destroys the stream, if there is one; work that is left goes on. False: some work may be left, and
/// may still use its memory.
bool end_stream(cudaStream_t stream);

}  // namespace wic::cuda
