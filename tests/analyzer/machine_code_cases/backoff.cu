// Polls with a pause between them.
#include <cuda/atomic>

#include "cases.h"

CASE(wait_sleep_fixed) {
  while (volatile_load(WORD(0)) != want) __nanosleep(100);
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_sleep_doubling) {
  unsigned ns = 8;
  while (volatile_load(WORD(0)) == 0) {
    __nanosleep(ns);
    ns = ns < 256 ? ns * 2 : ns;
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_sleep_leader_doubling) {
  if (threadIdx.x == 0) {
    unsigned ns = 8;
    while (load_acquire(WORD(0)) < want) {
      __nanosleep(ns);
      if (ns < 1024) ns <<= 1;
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_spin_then_sleep) {
  unsigned polls = 0;
  while (volatile_load(WORD(0)) == 0) {
    if (++polls > 64) __nanosleep(200);
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_sleep_random) {
  unsigned seed = ELEMENT * 2654435761u;
  while (volatile_load(WORD(0)) == 0) {
    seed = seed * 1664525u + 1013904223u;
    __nanosleep(seed >> 24);
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_pause_by_clock) {
  while (volatile_load(WORD(0)) == 0) {
    const long long start = clock64();
    while (clock64() - start < 500) {
    }
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_atomic_ref_wait) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*WORD(0));
  flag.wait(0, cuda::memory_order_acquire);
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_atomic_ref_wait_leader) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(*WORD(0));
    flag.wait(0);
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_sleep_only) {
  const u64 start = global_time();
  while (global_time() - start < 1000ull * n) __nanosleep(500);
  out[ELEMENT] = 1;
}
CASE(work_paced) {
  float x = data[ELEMENT];
  for (unsigned i = 0; i < n; ++i) {
    for (int k = 0; k < 64; ++k) x = x * 1.0001f + 0.5f;
    __nanosleep(20);
  }
  out[ELEMENT] = x;
}
CASE(work_delay) {
  const long long start = clock64();
  while (clock64() - start < 2000ll * n) {
  }
  out[ELEMENT] = 1;
}
CASE(work_bounded_sleep) {
  for (unsigned i = 0; i < volatile_load(bound); ++i) __nanosleep(100);
  out[ELEMENT] = 1;
}
