// A program in C++17 with kernels, streams and counters of its own, which now wait through wic.
#pragma once

#include "wic/runtime.h"

// [consume]
__global__ void consume(const __grid_constant__ wic::Site site, const std::uint64_t* counter, std::uint64_t round,
                        const float* data, float* out) {
#if WIC_ON_GPU
  if (!site.wait(wic::Thread{}, static_cast<std::uint32_t>(round), counter, wic::AtLeast64{round})) return;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * data[i];
#endif
}
// [end]

// [run]
wic::Result<> run(wic::Runtime& runtime, wic::SiteId site, cudaStream_t stream, std::uint64_t* counter,
                  std::uint64_t round, const float* data, float* out) {
  consume<<<4, 64, 0, stream>>>(runtime.site(site, wic::kSecond), counter, round, data, out);
  // ... the host or another stream writes `data` ...
  runtime.signal(site, static_cast<std::uint32_t>(round), counter, round);
  auto same_stream = runtime.device(0).use_stream(stream);  // for what takes a wic::Stream
  if (!same_stream) return same_stream.error();
  return (*same_stream)->synchronize();
}
// [end]
