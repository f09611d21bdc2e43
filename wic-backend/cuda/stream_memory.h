// A stream's writes to words, and its waits for them, through the driver: the runtime has no call for either.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "protocol/result.h"

namespace wic::cuda {

/// Writes a word after the stream's work so far; a copy of four bytes where the driver has no such call.
wicprof::Result<> stream_write(cudaStream_t stream, std::uint32_t* to, std::uint32_t value);

/// Holds the stream's later work back until the word has reached `goal` (it may wrap). No SM is used meanwhile.
wicprof::Result<> stream_wait_at_least(cudaStream_t stream, const std::uint32_t* word, std::uint32_t goal);

}  // namespace wic::cuda
