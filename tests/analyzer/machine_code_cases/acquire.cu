// Loads with acquire semantics.
#include <cuda/atomic>

#include "cases.h"

CASE(wait_acquire_gpu) {
  while (load_acquire(WORD(0)) != want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_acquire_system) {
  while (load_acquire_system(WORD(0)) < want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_acquire_leader) {
  if (threadIdx.x == 0) {
    while (load_acquire(WORD(0)) < want) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_atomic_ref) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*WORD(0));
  while (flag.load(cuda::memory_order_acquire) != want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_atomic_ref_relaxed) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag(*WORD(0));
  while (flag.load(cuda::memory_order_relaxed) != want) {
  }
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_atomic_ref_seq_cst) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*WORD(0));
  while (flag.load() != want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_acquire_doubling_sleep) {
  unsigned ns = 32;
  while (load_acquire(WORD(0)) != want) {
    __nanosleep(ns);
    if (ns < 2048) ns *= 2;
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_acquire_once) {
  if (load_acquire(bound) > n) return;
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += data[(ELEMENT + i * 4096) % kElements];
  out[ELEMENT] = sum;
}
// Each result was complete before the kernel started.
CASE(work_acquire_gather) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += load_acquire(word + (i * 97) % kWords);
  out[ELEMENT] = sum;
}
CASE(work_acquire_publish) {
  for (unsigned i = 0; i < n; ++i) {
    out[(ELEMENT + i * 4096) % kElements] = data[(ELEMENT + i) % kElements];
    store_release(WORD(1), i);
  }
}
CASE(work_acquire_update) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> total(*WORD(2));
  for (unsigned i = 0; i < n; ++i) {
    unsigned old = total.load(cuda::memory_order_acquire);
    while (!total.compare_exchange_weak(old, old * 3 + 1, cuda::memory_order_acq_rel)) {
    }
  }
}
