// Waits inside functions, objects and handles; globals as flags; and work in the same forms.
#include "common.h"

__device__ __noinline__ void until_at_least(const unsigned* word, unsigned want) {
  while (volatile_load(word) < want) {
  }
}
KERNEL wait_in_function(const unsigned* words, unsigned want, float* out) {
  until_at_least(words + blockIdx.x, want);
  out[threadIdx.x] += 1;
}
template <class Ready>
__device__ __forceinline__ void spin_until(Ready ready) {
  while (!ready()) __nanosleep(64);
}
KERNEL wait_with_lambda(const unsigned* word, unsigned want, float* out) {
  spin_until([=] { return load_acquire(word) == want; });
  out[threadIdx.x] += 1;
}
template <int kNap>
struct Backoff {
  int nap = kNap;
  __device__ void operator()() {
    __nanosleep(nap);
    if (nap < 1024) nap *= 2;
  }
};
template <class Policy>
__device__ __forceinline__ unsigned wait_for_change(const unsigned* word, unsigned from) {
  Policy policy;
  unsigned seen;
  while ((seen = volatile_load(word)) == from) policy();
  return seen;
}
KERNEL wait_with_policy(const unsigned* word, unsigned from, unsigned* out) {
  out[threadIdx.x] = wait_for_change<Backoff<16>>(word, from);
}
struct Channel {
  volatile unsigned* ready;
  volatile unsigned* taken;
  float* payload;
  __device__ void acquire(unsigned epoch) const {
    while (*ready < epoch) {
    }
    __threadfence();
  }
  __device__ void release(unsigned epoch) const {
    __threadfence();
    *taken = epoch;
  }
};
KERNEL wait_on_handle_by_value(Channel channel, unsigned epochs, float* out) {
  for (unsigned epoch = 1; epoch <= epochs; ++epoch) {
    if (threadIdx.x == 0) channel.acquire(epoch);
    __syncthreads();
    out[threadIdx.x] += channel.payload[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) channel.release(epoch);
  }
}
KERNEL wait_on_handle_in_memory(const Channel* channels, unsigned epoch, float* out) {
  const Channel& mine = channels[blockIdx.x];
  if (threadIdx.x == 0) mine.acquire(epoch);
  __syncthreads();
  out[threadIdx.x] += mine.payload[threadIdx.x];
}
__device__ volatile int go;
KERNEL wait_on_global(float* out) {
  while (!go) {
  }
  out[threadIdx.x] += 1;
}
__device__ unsigned global_flags[64];
KERNEL wait_on_global_array(unsigned want, float* out) {
  while (load_acquire(&global_flags[blockIdx.x & 63]) != want) {
  }
  out[threadIdx.x] += 1;
}
__constant__ const unsigned* flag_of_peer[8];
KERNEL wait_on_pointer_in_constants(unsigned peer, unsigned want, float* out) {
  if (threadIdx.x == 0) {
    while (volatile_load(flag_of_peer[peer]) < want) {
    }
  }
  __syncthreads();
  out[threadIdx.x] += 1;
}
enum class Compare { equal, not_equal, greater, greater_equal };
__device__ __forceinline__ bool holds(u64 value, Compare compare, u64 want) {
  switch (compare) {
    case Compare::equal:
      return value == want;
    case Compare::not_equal:
      return value != want;
    case Compare::greater:
      return value > want;
    default:
      return value >= want;
  }
}
KERNEL wait_with_comparison_at_run_time(const u64* word, Compare compare, u64 want, float* out) {
  while (!holds(volatile_load(word), compare, want)) {
  }
  out[threadIdx.x] += 1;
}
using Predicate = bool (*)(unsigned);
KERNEL stay_asks_a_pointer_to_function(const unsigned* word, Predicate predicate, float* out) {
  while (!predicate(volatile_load(word))) {
  }
  out[threadIdx.x] += 1;
}
__device__ __noinline__ unsigned mix(unsigned x) {
  for (int i = 0; i < 4; ++i) x = (x ^ (x >> 15)) * 0x2c1b3c6du;
  return x;
}
KERNEL work_hash_until_small(unsigned* out, unsigned limit) {
  unsigned x = threadIdx.x;
  while (mix(x) > limit) ++x;
  out[threadIdx.x] = x;
}
template <class Step>
__device__ __forceinline__ float iterate(float x, Step step) {
  float before;
  do {
    before = x;
    x = step(x);
  } while (x != before);
  return x;
}
KERNEL work_fixed_point(const float* in, float* out) {
  out[threadIdx.x] = iterate(in[threadIdx.x], [](float x) { return 0.5f * (x + 2 / x); });
}
struct Stream {
  const unsigned* at;
  unsigned left;
  __device__ bool more() const { return left != 0; }
  __device__ unsigned next() {
    --left;
    return volatile_load(at++);
  }
};
KERNEL work_stream_object(Stream stream, unsigned* out) {
  unsigned sum = 0;
  while (stream.more()) sum += stream.next();
  out[threadIdx.x] = sum;
}
KERNEL work_global_limit(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < go; ++i) sum += in[i];
  out[threadIdx.x] = sum;
}
KERNEL work_callback(const float* in, float* out, float (*f)(float), int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = f(in[i]);
}
