// What the parts of host_manners_app share.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

inline constexpr unsigned long long kKernel = 4'000'000;  // ns: how long a kernel runs

inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(result));
}

inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}

// Of host_manners_copies.cu. `count`: on the device.
void copies(unsigned* count);
void other_copies(unsigned* count);
