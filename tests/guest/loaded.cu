// A library that uses CUDA through a runtime of its own.
#include <cuda_runtime.h>

static __global__ void passes() {}

extern "C" int guest_use_cuda() {
  passes<<<1, 1>>>();
  return cudaDeviceSynchronize();
}
