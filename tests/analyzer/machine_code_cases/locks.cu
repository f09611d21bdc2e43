// Locks among blocks: one thread of each block takes the lock. Updates without a lock.
#include "cases.h"

__device__ __forceinline__ float guarded_work(float x) {
  for (int i = 0; i < 512; ++i) x = x * 1.0001f + 0.5f;
  return x;
}

CASE(wait_cas_lock) {
  float x = data[ELEMENT];
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x == 0) {
      while (atomicCAS(word + 32, 0, 1) != 0) {
      }
      __threadfence();
      x = guarded_work(x);
      __threadfence();
      atomicExch(word + 32, 0);
    }
    __syncthreads();
  }
  out[ELEMENT] = x;
}
CASE(wait_exchange_lock) {
  float x = data[ELEMENT];
  if (threadIdx.x == 0) {
    while (atomicExch(word + 32, 1) != 0) {
    }
    __threadfence();
    x = guarded_work(x);
    __threadfence();
    atomicExch(word + 32, 0);
  }
  __syncthreads();
  out[ELEMENT] = x;
}
CASE(wait_test_and_test_and_set) {
  float x = data[ELEMENT];
  if (threadIdx.x == 0) {
    do {
      while (volatile_load(word + 32) != 0) {
      }
    } while (atomicCAS(word + 32, 0, 1) != 0);
    __threadfence();
    x = guarded_work(x);
    __threadfence();
    atomicExch(word + 32, 0);
  }
  __syncthreads();
  out[ELEMENT] = x;
}
CASE(wait_ticket_lock) {
  float x = data[ELEMENT];
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(word + 32, 1);
    while (volatile_load(word + 64) != ticket) {
    }
    __threadfence();
    x = guarded_work(x);
    __threadfence();
    volatile_store(word + 64, ticket + 1);
  }
  __syncthreads();
  out[ELEMENT] = x;
}
CASE(wait_ticket_proportional) {
  float x = data[ELEMENT];
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(word + 32, 1);
    for (;;) {
      const unsigned serving = load_acquire(word + 64);
      if (serving == ticket) break;
      __nanosleep((ticket - serving) * 50);
    }
    x = guarded_work(x);
    store_release(word + 64, ticket + 1);
  }
  __syncthreads();
  out[ELEMENT] = x;
}
CASE(wait_lock_with_sleep) {
  float x = data[ELEMENT];
  if (threadIdx.x == 0) {
    unsigned ns = 8;
    while (atomicCAS(word + 32, 0, 1) == 1) {
      __nanosleep(ns);
      if (ns < 256) ns *= 2;
    }
    __threadfence();
    x = guarded_work(x);
    __threadfence();
    atomicExch(word + 32, 0);
  }
  __syncthreads();
  out[ELEMENT] = x;
}
CASE(work_stack_push) {
  u64* head = (u64*)(word + 128);
  for (unsigned i = 0; i < n; ++i) {
    u64 old = *(volatile u64*)head, seen;
    do {
      seen = old;
      ((u64*)out)[ELEMENT & 1023] = seen;
      old = atomicCAS(head, seen, (u64)ELEMENT);
    } while (old != seen);
  }
}
CASE(work_double_add) {
  u64* place = (u64*)(word + 160);
  for (unsigned i = 0; i < n; ++i) {
    u64 old = *place, seen;
    do {
      seen = old;
      old = atomicCAS(place, seen, __double_as_longlong(__longlong_as_double(seen) + 1.5));
    } while (old != seen);
  }
}
CASE(work_guarded_only) {
  float x = data[ELEMENT];
  for (unsigned i = 0; i < n; ++i) x = guarded_work(x);
  out[ELEMENT] = x;
}
