// The source of names.ptx: loops whose names are to differ, and to have the lines that a reader of this file looks for.
// Made in this folder: nvcc 13.0 -std=c++17 -arch=sm_90 -lineinfo -ptx; with /src for the folder, without sections.
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "names.h"

namespace cg = cooperative_groups;

namespace app {

__device__ void acquire(unsigned* word) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*word);
  while (flag.load(cuda::memory_order_acquire) == 0) {
  }
}

__global__ void uses_atomic(unsigned* word, unsigned* out) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(*word);
  while (flag.load(cuda::memory_order_acquire) == 0) {
  }
  out[0] = 1;
}

__global__ void uses_wait(unsigned* word, unsigned* out) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(*word);
  flag.wait(0);
  out[0] = 1;
}

__global__ void uses_grid(unsigned* out) {
  out[0] = 1;
  cg::this_grid().sync();
  out[1] = 2;
  cg::this_grid().sync();
  out[2] = 2;
}

__global__ void twice(unsigned* a, unsigned* b, unsigned* out) {
  spin(a);
  out[0] = 1;
  spin(b);
  out[1] = 1;
  acquire(a + 32);
  out[2] = 1;
  acquire(b + 32);
}

template <class T>
__global__ void instance(volatile T* flag, T* out) {
  while (*flag == 0) {
  }
  *out = 1;
}
template __global__ void instance<int>(volatile int*, int*);
template __global__ void instance<long long>(volatile long long*, long long*);

}  // namespace app
