// Barriers, latches and semaphores, of libcu++ and written by hand.
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include "common.h"

KERNEL either_latch(cuda::latch<cuda::thread_scope_device>* latch, float* out) {
  if (threadIdx.x == 0) latch->arrive_and_wait();
  __syncthreads();
  out[threadIdx.x] += 1;
}
KERNEL either_counting_semaphore(cuda::counting_semaphore<cuda::thread_scope_device>* tokens, float* out) {
  if (threadIdx.x == 0) tokens->acquire();
  __syncthreads();
  out[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) tokens->release();
}
KERNEL either_device_barrier(cuda::barrier<cuda::thread_scope_device>* barrier, float* out) {
  if (threadIdx.x == 0) barrier->arrive_and_wait();
  __syncthreads();
  out[threadIdx.x] += 1;
}
KERNEL stay_block_barrier(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  __shared__ float tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
KERNEL stay_mbarrier_test(const float* in, float* out) {
  __shared__ alignas(8) u64 barrier;
  __shared__ float tile[256];
  const unsigned address = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x));
  __syncthreads();
  tile[threadIdx.x] = in[threadIdx.x];
  u64 state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address) : "memory");
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address), "l"(state)
                 : "memory");
  }
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
KERNEL stay_pipeline_of_copies(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[512];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    cuda::memcpy_async(tile + threadIdx.x, in + round * 512 + threadIdx.x, sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[round * 512 + threadIdx.x] = tile[511 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}
KERNEL wait_phase_bit(unsigned* barrier, unsigned blocks, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned add = blockIdx.x == 0 ? 0x80000000u - (blocks - 1) : 1;
    __threadfence();
    const unsigned old = atomicAdd(barrier, add);
    while (((old ^ *(volatile unsigned*)barrier) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
KERNEL wait_dissemination(unsigned* flags, unsigned blocks, unsigned epoch) {
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned distance = 1; distance < blocks; distance *= 2) {
      __threadfence();
      *(volatile unsigned*)(flags + ((blockIdx.x + distance) % blocks) * 64 + distance) = epoch;
      while (volatile_load(flags + blockIdx.x * 64 + distance) != epoch) {
      }
    }
  }
  __syncthreads();
}
KERNEL wait_tree_barrier(volatile unsigned* arrive, volatile unsigned* release, unsigned epoch) {
  const unsigned left = 2 * blockIdx.x + 1, right = 2 * blockIdx.x + 2;
  if (threadIdx.x == 0) {
    if (left < gridDim.x) {
      while (arrive[left] < epoch) {
      }
    }
    if (right < gridDim.x) {
      while (arrive[right] < epoch) {
      }
    }
    __threadfence();
    arrive[blockIdx.x] = epoch;
    if (blockIdx.x == 0) {
      *release = epoch;
    } else {
      while (*release < epoch) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}
KERNEL wait_own_latch(int* remaining, float* out) {
  __threadfence();
  atomicSub(remaining, 1);
  while (atomicAdd(remaining, 0) > 0) __nanosleep(100);
  out[threadIdx.x] += 1;
}
KERNEL wait_semaphore_reads_then_takes(unsigned* tokens, float* out) {
  if (threadIdx.x == 0) {
    unsigned seen;
    do {
      do {
        seen = volatile_load(tokens);
      } while (seen == 0);
    } while (atomicCAS(tokens, seen, seen - 1) != seen);
    __threadfence();
  }
  __syncthreads();
  out[threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(tokens, 1);
}
KERNEL work_steps_between_barriers(float* x, int steps) {
  __shared__ cuda::barrier<cuda::thread_scope_block> unused;
  (void)unused;
  for (int step = 0; step < steps; ++step) {
    const float next = x[(threadIdx.x + step) % blockDim.x];
    __syncthreads();
    x[threadIdx.x] = 0.5f * (x[threadIdx.x] + next);
    __syncthreads();
  }
}
KERNEL work_return_tokens(unsigned* tokens, unsigned limit, unsigned* given) {
  unsigned seen = *tokens;
  unsigned before;
  do {
    before = seen;
    if (before >= limit) break;
    seen = atomicCAS(tokens, before, before + 1);
  } while (seen != before);
  given[threadIdx.x] = before;
}
KERNEL work_countdown(unsigned* remaining, const float* in, float* out) {
  unsigned left;
  while ((left = atomicSub(remaining, 1)) > 0 && left < 0x80000000u) out[left] = in[left] + 1;
}
