// Locks of all kinds; and updates in loops that wait for nobody.
#include "common.h"

__device__ __forceinline__ unsigned cas_acquire(unsigned* p, unsigned expected, unsigned wanted) {
  unsigned old;
  asm volatile("atom.global.acquire.gpu.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(p), "r"(expected), "r"(wanted)
               : "memory");
  return old;
}
KERNEL wait_cas_acquire_lock(unsigned* lock, unsigned* count) {
  if (threadIdx.x == 0) {
    while (cas_acquire(lock, 0, 1) != 0) {
    }
    *count += 1;
    store_release(lock, 0);
  }
}
KERNEL wait_test_then_exchange(int* lock, int* count) {
  if (threadIdx.x == 0) {
    for (;;) {
      while (volatile_load(lock) != 0) {
      }
      if (atomicExch(lock, 1) == 0) break;
    }
    __threadfence();
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
KERNEL wait_ticket_in_halves(unsigned* lock, int* count) {
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(lock, 0x10000) >> 16;
    while ((volatile_load(lock) & 0xffff) != ticket) {
    }
    __threadfence();
    *count += 1;
    __threadfence();
    atomicAdd(lock, 1);
  }
}
KERNEL wait_array_lock(unsigned* next, volatile int* slots, int* count) {
  if (threadIdx.x == 0) {
    const unsigned mine = atomicAdd(next, 1) % 64;
    while (slots[mine * 32] == 0) {
    }
    slots[mine * 32] = 0;
    *count += 1;
    __threadfence();
    slots[(mine + 1) % 64 * 32] = 1;
  }
}
KERNEL wait_reader_until_writer_leaves(unsigned* state, const float* in, float* out) {
  atomicAdd(state, 1);
  while (volatile_load(state) & 0x80000000u) {
  }
  __threadfence();
  out[threadIdx.x] = in[threadIdx.x];
  atomicSub(state, 1);
}
KERNEL wait_writer_until_readers_leave(unsigned* state, float* data) {
  if (threadIdx.x == 0) {
    atomicOr(state, 0x80000000u);
    while ((load_acquire(state) & 0x7fffffffu) != 0) __nanosleep(50);
    data[0] += 1;
    __threadfence();
    atomicAnd(state, 0x7fffffffu);
  }
}
KERNEL wait_even_sequence(const unsigned* sequence, const float* data, float* out) {
  unsigned before;
  while ((before = load_acquire(sequence)) & 1) {
  }
  out[threadIdx.x] = data[threadIdx.x] + before;
}
KERNEL wait_sequence_lock_reader(const unsigned* sequence, const volatile float* data, float* out) {
  unsigned before;
  float a, b;
  do {
    while ((before = volatile_load(sequence)) & 1) {
    }
    __threadfence();
    a = data[0];
    b = data[1];
    __threadfence();
  } while (volatile_load(sequence) != before);
  out[threadIdx.x] = a + b;
}
KERNEL wait_flag_of_intent(volatile int* wants, volatile int* turn, int* count) {
  if (threadIdx.x == 0) {
    const int other = 1 - blockIdx.x;
    wants[blockIdx.x] = 1;
    *turn = other;
    __threadfence();
    while (wants[other] && *turn == other) {
    }
    *count += 1;
    __threadfence();
    wants[blockIdx.x] = 0;
  }
}
KERNEL stay_work_inside_lock_loop(unsigned* locks, int* counts) {
  const unsigned bucket = threadIdx.x & 7;
  bool done = false;
  do {
    if (atomicCAS(locks + bucket, 0, 1) == 0) {
      __threadfence();
      counts[bucket] += 1;
      __threadfence();
      atomicExch(locks + bucket, 0);
      done = true;
    }
  } while (!done);
}
KERNEL stay_try_lock_else_other_bucket(unsigned* locks, int* counts, int n) {
  int left = n;
  unsigned bucket = threadIdx.x & 7;
  while (left > 0) {
    if (atomicExch(locks + bucket, 1) == 0) {
      counts[bucket] += 1;
      __threadfence();
      atomicExch(locks + bucket, 0);
      --left;
    }
    bucket = (bucket + 1) & 7;
  }
}
KERNEL either_retries_until_stable(const unsigned* version, const volatile float* data, float* out) {
  unsigned before, after;
  float value;
  do {
    before = load_acquire(version);
    value = data[threadIdx.x];
    __threadfence();
    after = load_acquire(version);
  } while (before != after || (before & 1));
  out[threadIdx.x] = value;
}
KERNEL work_saturating_count(unsigned* counter, unsigned limit) {
  unsigned seen = *counter;
  while (seen < limit) {
    const unsigned before = atomicCAS(counter, seen, seen + 1);
    if (before == seen) break;
    seen = before;
  }
}
KERNEL work_add_double(double* sum, const double* values) {
  u64* const word = (u64*)sum;
  u64 seen = *word, before;
  do {
    before = seen;
    seen = atomicCAS(word, before, __double_as_longlong(values[threadIdx.x] + __longlong_as_double(before)));
  } while (before != seen);
}
KERNEL work_least_float(float* least, const float* values) {
  int* const word = (int*)least;
  const float mine = values[threadIdx.x];
  int seen = volatile_load(word);
  while (__int_as_float(seen) > mine) {
    const int before = seen;
    seen = atomicCAS(word, before, __float_as_int(mine));
    if (seen == before) break;
  }
}
KERNEL work_half_of_word(unsigned* words, unsigned short value) {
  unsigned seen = volatile_load(words), before;
  do {
    before = seen;
    seen = atomicCAS(words, before, (before & 0xffff0000u) | ((before + value) & 0xffffu));
  } while (seen != before);
}
KERNEL work_reserve_range(unsigned* end, unsigned size, unsigned capacity, unsigned* begin) {
  unsigned seen = volatile_load(end), before;
  do {
    before = seen;
    const unsigned aligned = (before + 15) & ~15u;
    if (aligned + size > capacity) {
      begin[threadIdx.x] = ~0u;
      return;
    }
    seen = atomicCAS(end, before, aligned + size);
  } while (seen != before);
  begin[threadIdx.x] = (before + 15) & ~15u;
}
