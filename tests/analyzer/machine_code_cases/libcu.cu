// Waits and work of libcu++.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/semaphore>

#include "cases.h"

CASE(wait_atomic_wait_in_loop) {
  auto* flag = (cuda::atomic<unsigned, cuda::thread_scope_device>*)WORD(0);
  unsigned seen;
  while ((seen = flag->load(cuda::memory_order_acquire)) < want) flag->wait(seen, cuda::memory_order_relaxed);
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_semaphore) {
  if (threadIdx.x == 0) {
    auto* semaphore = (cuda::counting_semaphore<cuda::thread_scope_device, 1024>*)WORD(0);
    semaphore->acquire();
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_atomic_flag) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*WORD(0));
    unsigned expected = want;
    while (!flag.compare_exchange_strong(expected, 0, cuda::memory_order_acquire)) expected = want;
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_block_barrier) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  float x = data[ELEMENT];
  for (unsigned i = 0; i < 16 * n; ++i) {
    for (int k = 0; k < 32; ++k) x = x * 1.0001f + 0.5f;
    barrier.arrive_and_wait();
  }
  out[ELEMENT] = x;
}
CASE(work_fetch_add) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> total(*WORD(1));
  for (unsigned i = 0; i < 16 * n; ++i) total.fetch_add(i, cuda::memory_order_relaxed);
}
CASE(work_compare_exchange) {
  cuda::atomic_ref<float, cuda::thread_scope_device> total(*(float*)WORD(2));
  for (unsigned i = 0; i < n; ++i) {
    float old = total.load(cuda::memory_order_relaxed);
    while (!total.compare_exchange_weak(old, old * 0.5f + 1)) {
    }
  }
}
