// Look-back of scans, and parts of scans that wait for nobody.
#include "common.h"

KERNEL wait_block_before(volatile unsigned* flags, volatile float* sums, float* out) {
  __shared__ float carry;
  if (threadIdx.x == 0) {
    float before = 0;
    if (blockIdx.x != 0) {
      while (flags[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + out[blockIdx.x * blockDim.x];
    __threadfence();
    flags[blockIdx.x] = 1;
    carry = before;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] += carry;
}
KERNEL wait_packed_status(const u64* states, float* out) {
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    u64 state;
    do {
      state = volatile_load(states + blockIdx.x - 1);
    } while ((unsigned)state == 0);
    out[blockIdx.x] = __uint_as_float((unsigned)(state >> 32));
  }
}
KERNEL wait_window_of_warp(const u64* states, unsigned* sums) {
  if (threadIdx.x < 32) {
    int at = (int)blockIdx.x - 1 - (int)threadIdx.x;
    unsigned sum = 0;
    for (;;) {
      u64 state = 2;
      if (at >= 0) {
        do {
          state = volatile_load(states + at);
        } while (__any_sync(~0u, (state & 3) == 0));
      } else {
        __any_sync(~0u, false);
      }
      const unsigned inclusive = __ballot_sync(~0u, (state & 3) == 2);
      sum += (unsigned)(state >> 2);
      if (inclusive != 0) break;
      at -= 32;
    }
    sums[blockIdx.x * 32 + threadIdx.x] = sum;
  }
}
KERNEL wait_walk_back(const volatile unsigned* status, const volatile unsigned* aggregate,
                      const volatile unsigned* prefix, unsigned* out) {
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int at = (int)blockIdx.x - 1; at >= 0; --at) {
      unsigned seen;
      while ((seen = status[at]) == 0) {
      }
      __threadfence();
      if (seen == 2) {
        sum += prefix[at];
        break;
      }
      sum += aggregate[at];
    }
    out[blockIdx.x] = sum;
  }
}
KERNEL wait_walk_back_with_pauses(const unsigned* status, const unsigned* aggregate, unsigned* out) {
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int at = (int)blockIdx.x - 1; at >= 0; --at) {
      unsigned pause = 8;
      while (load_relaxed(status + at) == 0) {
        __nanosleep(pause);
        pause = pause * 2 > 512 ? 512 : pause * 2;
      }
      __threadfence();
      sum += aggregate[at];
    }
    out[blockIdx.x] = sum;
  }
}
KERNEL wait_flag_beside_value(const uint2* pairs, unsigned flag, unsigned* out) {
  uint2 seen;
  do {
    asm volatile("ld.volatile.global.v2.u32 {%0,%1}, [%2];" : "=r"(seen.x), "=r"(seen.y) : "l"(pairs + blockIdx.x));
  } while (seen.y != flag);
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen.x;
}
KERNEL wait_ordered_blocks(volatile unsigned* turn, float* sum, const float* parts) {
  if (threadIdx.x == 0) {
    while (*turn != blockIdx.x) {
    }
    __threadfence();
    *sum += parts[blockIdx.x];
    __threadfence();
    *turn = blockIdx.x + 1;
  }
}
KERNEL wait_lane_looks_at_own_tile(const volatile u64* states, unsigned tiles, u64* out) {
  const unsigned tile = threadIdx.x;
  u64 state = 0;
  if (tile < tiles) {
    while ((state = states[tile]) < (1ull << 62)) {
    }
  }
  out[threadIdx.x] = state & ~(3ull << 62);
}
KERNEL work_up_sweep(float* values, unsigned n) {
  for (unsigned distance = 1; distance < n; distance *= 2) {
    __syncthreads();
    const unsigned at = (threadIdx.x + 1) * distance * 2 - 1;
    if (at < n) values[at] += values[at - distance];
  }
}
KERNEL work_serial_scan(const unsigned* in, unsigned* out, unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    out[i] = sum;
    sum += volatile_load(in + i);
  }
}
KERNEL work_merge_path(const int* a, const int* b, int n, int diagonal, int* split) {
  int low = diagonal > n ? diagonal - n : 0, high = diagonal < n ? diagonal : n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (volatile_load(a + middle) < volatile_load(b + diagonal - 1 - middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *split = low;
}
KERNEL work_merge(const int* a, const int* b, int* out, int n) {
  int i = 0, j = 0;
  while (i < n && j < n) {
    const int x = volatile_load(a + i), y = volatile_load(b + j);
    out[i + j] = x < y ? x : y;
    x < y ? ++i : ++j;
  }
}
KERNEL work_back_to_inclusive(const u64* states, unsigned* sums) {
  int at = (int)blockIdx.x - 1;
  unsigned sum = 0;
  u64 state;
  do {
    state = volatile_load(states + at--);
    sum += (unsigned)(state >> 2);
  } while ((state & 3) != 2);
  sums[blockIdx.x] = sum;
}
KERNEL work_rank_of_digit(const unsigned* keys, unsigned n, unsigned* ranks) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    unsigned rank = 0;
    const unsigned digit = keys[threadIdx.x] >> shift & 255;
    for (unsigned i = 0; i < n; ++i) rank += (volatile_load(keys + i) >> shift & 255) < digit;
    ranks[shift * 32 + threadIdx.x] = rank;
  }
}
