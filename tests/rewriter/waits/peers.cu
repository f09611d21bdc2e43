// Several GPUs and ranks: flags in a peer's memory, steps of rings, signals as in NVSHMEM and NCCL; copies and sums
// that wait for nobody.
#include "common.h"

KERNEL wait_peer_flag(const unsigned* flag, unsigned epoch, const float* theirs, float* mine) {
  if (threadIdx.x == 0) {
    while (load_acquire_system(flag) < epoch) {
    }
  }
  __syncthreads();
  mine[threadIdx.x] += theirs[threadIdx.x];
}
__constant__ u64* symmetric_heap_of[8];
__device__ __noinline__ u64 signal_wait(u64* signal, int compare, u64 value) {
  volatile u64* const word = signal;
  u64 seen;
  switch (compare) {
    case 0:
      while ((seen = *word) != value) {
      }
      break;
    case 1:
      while ((seen = *word) == value) {
      }
      break;
    case 2:
      while ((seen = *word) <= value) {
      }
      break;
    default:
      while ((seen = *word) < value) {
      }
      break;
  }
  return seen;
}
KERNEL wait_signal_until(unsigned self, int compare, u64 value, float* out) {
  if (threadIdx.x == 0) signal_wait(symmetric_heap_of[self], compare, value);
  __syncthreads();
  out[threadIdx.x] += 1;
}
struct Connection {
  volatile u64* head;
  volatile u64* tail;
  float* buffer;
};
KERNEL wait_steps_of_ring(Connection from, Connection to, const float* input, float* out, int chunks,
                          volatile int* abort) {
  u64 step = 0, seen_tail = 0, seen_head = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (threadIdx.x == 0) {
      int spins = 0;
      while (seen_tail < step + 1) {
        seen_tail = *from.tail;
        if (++spins == 10000) {
          spins = 0;
          if (*abort) break;
        }
      }
    }
    if (threadIdx.x == 32) {
      while (seen_head + 8 < step + 1) seen_head = *to.head;
    }
    __syncthreads();
    const float sum = from.buffer[(step % 8) * 256 + threadIdx.x] + input[chunk * 256 + threadIdx.x];
    to.buffer[(step % 8) * 256 + threadIdx.x] = sum;
    out[chunk * 256 + threadIdx.x] = sum;
    __syncthreads();
    ++step;
    if (threadIdx.x == 0) {
      __threadfence_system();
      *from.head = step;
      *to.tail = step;
    }
  }
}
KERNEL wait_cached_step(const u64* word, u64 need, u64* cache, float* out) {
  u64 seen = *cache;
  while (seen < need) seen = volatile_load(word);
  *cache = seen;
  out[threadIdx.x] += 1;
}
KERNEL wait_then_reset(unsigned* flag, float* out) {
  if (threadIdx.x == 0) {
    while (load_acquire_system(flag) == 0) {
    }
    *(volatile unsigned*)flag = 0;
  }
  __syncthreads();
  out[threadIdx.x] += 1;
}
KERNEL wait_consume_by_cas(unsigned* flag, float* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS_system(flag, 1, 0) != 1) {
    }
  }
  __syncthreads();
  out[threadIdx.x] += 1;
}
KERNEL wait_all_ranks(u64* const* counters, unsigned self, unsigned ranks, u64 epoch) {
  const unsigned peer = threadIdx.x;
  if (peer < ranks) {
    atomicAdd_system(counters[peer] + self, 1ull);
    __threadfence_system();
    while ((long long)(epoch - load_relaxed_system(counters[self] + peer)) > 0) {
    }
    __threadfence_system();
  }
  __syncthreads();
}
KERNEL wait_line_with_flags(const uint4* line, unsigned flag, uint2* out) {
  uint4 seen;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(seen.x), "=r"(seen.y), "=r"(seen.z), "=r"(seen.w)
                 : "l"(line + threadIdx.x));
  } while (seen.y != flag || seen.w != flag);
  out[threadIdx.x] = make_uint2(seen.x, seen.z);
}
KERNEL work_copy_to_peer(const float4* in, float4* theirs, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) theirs[i] = in[i];
}
KERNEL work_sum_of_ranks(float* const* buffers, unsigned ranks, float* out, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    float sum = 0;
    for (unsigned rank = 0; rank < ranks; ++rank) sum += *(volatile float*)(buffers[rank] + i);
    out[i] = sum;
  }
}
KERNEL work_signal_all(unsigned* const* flags, unsigned ranks, unsigned epoch) {
  for (unsigned rank = threadIdx.x; rank < ranks; rank += blockDim.x) store_release_system(flags[rank], epoch);
}
KERNEL work_checksum(const uint4* data, unsigned n, unsigned* sum) {
  unsigned a = 1, b = 0;
  for (unsigned i = 0; i < n; ++i) {
    uint4 seen;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(seen.x), "=r"(seen.y), "=r"(seen.z), "=r"(seen.w)
                 : "l"(data + i));
    a = (a + seen.x + seen.y) % 65521;
    b = (b + a + seen.z + seen.w) % 65521;
  }
  *sum = b << 16 | a;
}
KERNEL work_slowest_rank(const u64* steps, unsigned ranks, unsigned* slowest) {
  u64 least = ~0ull;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const u64 step = load_relaxed_system(steps + rank);
    if (step < least) {
      least = step;
      *slowest = rank;
    }
  }
}
