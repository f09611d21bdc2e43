// One lane polls, or the lanes of a warp decide together; and loops with votes that wait for nobody.
#include "common.h"

KERNEL wait_lane_zero(const unsigned* flag, unsigned want, float* out) {
  if ((threadIdx.x & 31) == 0) {
    while (load_acquire(flag) < want) {
    }
  }
  __syncwarp();
  out[threadIdx.x] += 1;
}
KERNEL wait_first_active_lane(const unsigned* flags, const int* kind, float* out) {
  if (kind[threadIdx.x] > 0) {
    const unsigned active = __activemask();
    if ((threadIdx.x & 31) == __ffs(active) - 1) {
      while (volatile_load(flags) == 0) {
      }
    }
    __syncwarp(active);
    out[threadIdx.x] += 1;
  }
}
KERNEL either_lane_broadcasts(const unsigned* flag, float* out) {
  unsigned seen;
  do {
    if ((threadIdx.x & 31) == 0) seen = volatile_load(flag);
    seen = __shfl_sync(~0u, seen, 0);
  } while (seen == 0);
  out[threadIdx.x] = seen;
}
KERNEL wait_warp_any(const unsigned* flag, float* out) {
  while (!__any_sync(~0u, volatile_load(flag) != 0)) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_warp_all_own_words(const unsigned* flags, unsigned epoch, float* out) {
  const unsigned* mine = flags + (threadIdx.x & 31) * 32;
  while (!__all_sync(~0u, load_acquire(mine) == epoch)) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_ballot_full(const int* ready, float* out) {
  const int* mine = ready + threadIdx.x;
  while (__ballot_sync(~0u, volatile_load(mine)) != ~0u) __nanosleep(32);
  out[threadIdx.x] += 1;
}
KERNEL wait_block_votes(const unsigned* flag, float* out) {
  while (!__syncthreads_or(volatile_load(flag) != 0)) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_block_barrier_in_loop(const unsigned* flag, float* out) {
  __shared__ unsigned seen;
  do {
    __syncthreads();
    if (threadIdx.x == 0) seen = volatile_load(flag);
    __syncthreads();
  } while (seen == 0);
  out[threadIdx.x] = seen;
}
KERNEL wait_last_thread_polls(const u64* flag, u64 want, float* out) {
  if (threadIdx.x == blockDim.x - 1 && threadIdx.y == 0) {
    while (load_acquire_system(flag) < want) {
    }
  }
  __syncthreads();
  out[threadIdx.x] += 1;
}
KERNEL work_compact(const int* in, int* out, int n) {
  int base = 0;
  for (int i = threadIdx.x & 31; i < n; i += 32) {
    const unsigned mask = __ballot_sync(~0u, in[i] > 0);
    if (in[i] > 0) out[base + __popc(mask & ((1u << (threadIdx.x & 31)) - 1))] = in[i];
    base += __popc(mask);
  }
}
KERNEL work_warp_scan(const int* in, int* out, int n) {
  int carry = 0;
  for (int i = threadIdx.x & 31; i < n; i += 32) {
    int value = in[i];
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(~0u, value, distance);
      if ((threadIdx.x & 31) >= distance) value += other;
    }
    out[i] = carry + value;
    carry += __shfl_sync(~0u, value, 31);
  }
}
KERNEL work_any_lane_above(float* x, float eps) {
  float value = x[threadIdx.x];
  while (__any_sync(~0u, value > eps)) value = value * 0.5f - 0.001f * value * value;
  x[threadIdx.x] = value;
}
KERNEL work_lanes_take_turns(const int* keys, int* counts) {
  unsigned left = ~0u;
  const int key = keys[threadIdx.x];
  while (left != 0) {
    const int leader = __ffs(left) - 1;
    const int leaders_key = __shfl_sync(~0u, key, leader);
    const unsigned same = __ballot_sync(~0u, key == leaders_key);
    if ((threadIdx.x & 31) == leader) counts[leaders_key] += __popc(same);
    left &= ~same;
  }
}
KERNEL work_votes_over_data(const float* data, int* steps) {
  int step = 0;
  while (__all_sync(~0u, volatile_load(data + step * 32 + (threadIdx.x & 31)) > 0)) ++step;
  *steps = step;
}
KERNEL work_divergent_depths(const int* tree, int* depths) {
  int node = threadIdx.x, depth = 0;
  while (__any_sync(~0u, node > 0)) {
    if (node > 0) {
      node = tree[node];
      ++depth;
    }
  }
  depths[threadIdx.x] = depth;
}
