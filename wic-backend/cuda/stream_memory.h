// Makes a stream write words and wait for words, through the driver: the runtime library has no such calls.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "protocol/result.h"

namespace wic::cuda {

/// Writes a word after the stream's work so far; by a copy of four bytes if the driver has no such call.
wicprof::Result<> stream_write(cudaStream_t stream, std::uint32_t* to, std::uint32_t value);

/// Delays the stream's later work until the word has reached `goal` (it may wrap around). Uses no SM.
wicprof::Result<> stream_wait_at_least(cudaStream_t stream, const std::uint32_t* word, std::uint32_t goal);

}  // namespace wic::cuda
