// Words in shared memory: warps of one block that wait for each other, and blocks that work together at barriers.
#include "common.h"

KERNEL wait_producer_warp(const float* in, float* out) {
  __shared__ volatile int ready;
  __shared__ float tile[32];
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x];
    __threadfence_block();
    if (threadIdx.x == 0) ready = 1;
  } else {
    while (ready == 0) {
    }
    __threadfence_block();
    out[threadIdx.x] = tile[threadIdx.x & 31];
  }
}
KERNEL wait_stages_filled(const float* in, float* out, unsigned stages) {
  __shared__ volatile unsigned filled, emptied;
  __shared__ float stage[4][32];
  if (threadIdx.x == 0) filled = emptied = 0;
  __syncthreads();
  const unsigned lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    for (unsigned s = 0; s < stages; ++s) {
      while (s - emptied >= 4) {
      }
      stage[s & 3][lane] = in[s * 32 + lane];
      __syncwarp();
      __threadfence_block();
      if (lane == 0) filled = s + 1;
      __syncwarp();
    }
  } else if (threadIdx.x < 64) {
    float sum = 0;
    for (unsigned s = 0; s < stages; ++s) {
      while (filled <= s) {
      }
      __threadfence_block();
      sum += stage[s & 3][lane];
      __syncwarp();
      if (lane == 0) emptied = s + 1;
    }
    out[lane] = sum;
  }
}
KERNEL wait_shared_counter_of_warps(float* out) {
  __shared__ unsigned arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  out[threadIdx.x] *= 2;
  __syncwarp();
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned*)&arrived < blockDim.x / 32) {
    }
  }
  __syncwarp();
  out[threadIdx.x ^ 64] += 1;
}
KERNEL wait_shared_wide_flag(float* out) {
  __shared__ volatile u64 flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) flag = 0x100000001ull;
  if (threadIdx.x >= 64) {
    while (flag != 0x100000001ull) __nanosleep(20);
  }
  out[threadIdx.x] = 1;
}
KERNEL work_bubble_sort(int* values, int n) {
  __shared__ volatile int changed;
  do {
    __syncthreads();
    if (threadIdx.x == 0) changed = 0;
    __syncthreads();
    for (int phase = 0; phase < 2; ++phase) {
      const int i = 2 * threadIdx.x + phase;
      if (i + 1 < n && values[i] > values[i + 1]) {
        const int swap = values[i];
        values[i] = values[i + 1];
        values[i + 1] = swap;
        changed = 1;
      }
      __syncthreads();
    }
  } while (changed);
}
KERNEL work_labels_settle(const int* neighbours, int* labels) {
  __shared__ int moved;
  do {
    __syncthreads();
    moved = 0;
    __syncthreads();
    const int other = volatile_load(labels + neighbours[threadIdx.x]);
    if (other < labels[threadIdx.x]) {
      labels[threadIdx.x] = other;
      moved = 1;
    }
    __syncthreads();
  } while (moved != 0);
}
KERNEL work_shared_tail(const int* graph, int* order, int n) {
  __shared__ int tail;
  if (threadIdx.x == 0) {
    tail = 1;
    order[0] = 0;
  }
  __syncthreads();
  for (int head = 0; head < *(volatile int*)&tail && head < n; ++head) {
    const int next = graph[order[head] * blockDim.x + threadIdx.x];
    if (next >= 0) order[atomicAdd(&tail, 1)] = next;
    __syncthreads();
  }
}
KERNEL work_tree_sum(const float* in, float* out) {
  __shared__ float values[256];
  values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = values[0];
}
KERNEL work_volatile_warp_sum(const float* in, float* out) {
  __shared__ float values[64];
  volatile float* mine = values + threadIdx.x;
  *mine = in[threadIdx.x];
  for (int distance = 16; distance > 0; distance >>= 1) *mine += mine[distance];
  out[threadIdx.x] = *mine;
}
KERNEL work_histogram(const unsigned char* in, unsigned n, unsigned* out) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}
KERNEL work_residual_falls(float* x, float eps) {
  __shared__ float residual;
  do {
    const float next = 0.5f * (x[threadIdx.x] + x[(threadIdx.x + 1) % blockDim.x]);
    __syncthreads();
    if (threadIdx.x == 0) residual = fabsf(next - x[0]);
    x[threadIdx.x] = next;
    __syncthreads();
  } while (*(volatile float*)&residual > eps);
}
KERNEL work_decode_table(const unsigned char* in, int* out, int n) {
  __shared__ unsigned short table[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) table[i] = in[i];
  __syncthreads();
  unsigned state = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    while (table[state & 511] < 256) state = state * 2 + table[state & 511];
    out[i * blockDim.x + threadIdx.x] = table[state & 511];
    state = in[i] + threadIdx.x;
  }
}
