// Loops that look at a word of others while they do something useful; and plain waits beside them.
#include "common.h"

KERNEL stay_helps_while_it_waits(const unsigned* flag, unsigned* next, unsigned total, const float* in, float* out) {
  while (volatile_load(flag) == 0) {
    const unsigned item = atomicAdd(next, 1);
    if (item < total) out[item] = in[item] * 2;
  }
}
KERNEL stay_adds_to_memory(const unsigned* flag, float* sum) {
  while (volatile_load(flag) == 0) *sum += 1;
}
KERNEL work_until_told_to_stop(const unsigned* stop, float* x) {
  while (volatile_load(stop) == 0) x[threadIdx.x] = 0.5f * (x[threadIdx.x] + x[threadIdx.x ^ 1]);
}
KERNEL work_counts_hits_until_stop(const unsigned* stop, unsigned* hits) {
  unsigned state = threadIdx.x, inside = 0;
  while (volatile_load(stop) == 0) {
    state = state * 1664525u + 1013904223u;
    const float x = (state >> 8) * (1.0f / 16777216);
    state = state * 1664525u + 1013904223u;
    const float y = (state >> 8) * (1.0f / 16777216);
    inside += x * x + y * y < 1;
  }
  hits[threadIdx.x] = inside;
}
KERNEL work_descends_until_stop(const int* stop, float* out) {
  float x = threadIdx.x;
  while (!volatile_load(stop) && fabsf(x) > 1e-6f) x -= 0.01f * (2 * x + sinf(x));
  out[threadIdx.x] = x;
}
KERNEL work_reads_samples_until_stop(const unsigned* stop, const float* samples, float* out) {
  float sum = 0;
  unsigned i = threadIdx.x;
  while (volatile_load(stop) == 0) {
    sum += samples[i & 4095];
    i += blockDim.x;
  }
  out[threadIdx.x] = sum;
}
KERNEL work_block_steps_until_stop(const unsigned* stop, float* x) {
  __shared__ unsigned stopped;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) stopped = volatile_load(stop);
    __syncthreads();
    if (stopped) return;
    x[threadIdx.x] = 0.5f * (x[threadIdx.x] + x[(threadIdx.x + 1) % blockDim.x]);
  }
}
KERNEL work_pings(const unsigned* stop, unsigned* ping) {
  unsigned n = 0;
  while (volatile_load(stop) == 0) {
    *(volatile unsigned*)ping = ++n;
    __threadfence_system();
  }
}
KERNEL work_hashes_until_someone_found(const unsigned* found, unsigned target, unsigned* answer) {
  unsigned nonce = blockIdx.x * blockDim.x + threadIdx.x;
  while (volatile_load(found) == 0) {
    unsigned x = nonce;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    if (x == target) {
      *answer = nonce;
      break;
    }
    nonce += gridDim.x * blockDim.x;
  }
}
KERNEL wait_after_work(const unsigned* flag, float* x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  while (volatile_load(flag) == 0) {
  }
  x[threadIdx.x] = sum;
}
KERNEL wait_in_each_round_of_work(const unsigned* flag, float* x, unsigned rounds) {
  float value = x[threadIdx.x];
  for (unsigned round = 1; round <= rounds; ++round) {
    for (int i = 0; i < 64; ++i) value = value * 0.99f + 0.01f;
    while (volatile_load(flag) < round) {
    }
  }
  x[threadIdx.x] = value;
}
KERNEL wait_pause_by_arithmetic(const unsigned* flag, float* out) {
  // A pause by a loop that computes nothing of use, as old programs do it.
  while (volatile_load(flag) == 0) {
    for (int i = 0; i < 100; ++i) asm volatile("");
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_longest_gap_kept(const unsigned* flag, long long* longest) {
  long long before = clock64(), most = 0;
  while (volatile_load(flag) == 0) {
    const long long now = clock64();
    if (now - before > most) most = now - before;
    before = now;
  }
  longest[threadIdx.x] = most;
}
