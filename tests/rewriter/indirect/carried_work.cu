// Waits whose loops carry a value from round to round (a mask of what is missing, positions of queues, the count of a
// lock), and loops that look like them: half that was looked at. Names as in votes_work.cu.
#include "../waits/common.h"

// As exllamav3's barrier: branches clear the bits of the ranks that have come.
KERNEL patched_mask_of_ranks(const unsigned* epochs, unsigned mask, unsigned epoch) {
  while (mask != 0) {
    const unsigned before = mask;
    for (int i = 0; i < 16; ++i) {
      if ((mask >> i & 1) == 0) continue;
      if (load_acquire_system(epochs + i) == epoch) mask &= ~(1u << i);
    }
    if (mask == before) __nanosleep(64);
  }
}
KERNEL found_mask_or_deadline(const unsigned* epochs, unsigned mask, unsigned epoch, u64 limit, unsigned* late) {
  const u64 begin = global_time();
  unsigned sleep = 64;
  while (mask != 0) {
    const unsigned before = mask;
    for (int i = 0; i < 16; i += 2) {
      const unsigned pair = mask >> i & 3;
      if (pair == 0) continue;
      const unsigned a = volatile_load(epochs + i), b = volatile_load(epochs + i + 1);
      if ((pair & 1) != 0 && a == epoch) mask &= ~(1u << i);
      if ((pair & 2) != 0 && b == epoch) mask &= ~(2u << i);
    }
    if (mask == before) {
      __nanosleep(sleep);
      if (sleep < 1024) {
        sleep <<= 1;
      } else {
        *late = global_time() - begin > limit;
      }
      if (*late) break;
    } else {
      sleep = 64;
    }
  }
}
// As exllamav3's broadcast: the lowest bit says which word is asked.
KERNEL patched_lowest_rank_first(const unsigned* stages, unsigned mask, unsigned stage) {
  unsigned sleep = 64;
  while (mask != 0) {
    if (load_acquire_system(stages + __ffs(mask) - 1) >= stage) {
      mask &= mask - 1;
      sleep = 64;
    } else {
      __nanosleep(sleep);
    }
    if (sleep < 1024) sleep <<= 1;
  }
}
// The word that the mask chooses is asked until it comes, so a second question is no search.
KERNEL patched_mask_until_error(const unsigned* states, unsigned mask, unsigned* result) {
  while (mask != 0) {
    const unsigned state = volatile_load(states + __ffs(mask) - 1);
    if (state == ~0u) break;
    if (state == 1) mask &= mask - 1;
  }
  *result = mask == 0 ? 1 : 0;
}

// Each round takes a bit.
KERNEL work_each_candidate(const unsigned* keys, unsigned mask, unsigned key, int* where) {
  *where = -1;
  while (mask != 0) {
    const int i = __ffs(mask) - 1;
    if (volatile_load(keys + i) == key) {
      *where = i;
      return;
    }
    mask &= mask - 1;
  }
}
// A place that nobody has done is done by this thread, which then sees its own store.
KERNEL work_until_all_are_done(volatile unsigned* done, unsigned mask, float* data) {
  while (mask != 0) {
    const int i = __ffs(mask) - 1;
    if (done[i] != 0) {
      mask &= mask - 1;
    } else {
      data[i] += 1;
      done[i] = 1;
    }
  }
}
// A walk over data that nobody else writes: each round goes on.
KERNEL work_walks_own_ring(unsigned mask, unsigned* sum) {
  __shared__ volatile unsigned ring[32];
  ring[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  unsigned all = 0;
  while (mask != 0) {
    const unsigned value = ring[__ffs(mask) - 1];
    all += value;
    if (value & 1) {
      mask &= mask - 1;
    } else {
      mask &= ~(3u << (__ffs(mask) - 1));
    }
  }
  sum[threadIdx.x] = all;
}
// Takes what is there from several counters: the loop's own subtractions make it end.
KERNEL work_drains_counters(int* counts, unsigned mask, unsigned* taken) {
  unsigned mine = 0;
  while (mask != 0) {
    const int i = __ffs(mask) - 1;
    if (atomicSub(counts + i, 1) > 0) {
      ++mine;
    } else {
      mask &= mask - 1;
    }
  }
  taken[threadIdx.x] = mine;
}
// The lanes of a warp insert one after the other, with all lanes.
KERNEL work_lanes_in_turn(unsigned* keys, const unsigned* mine, unsigned slots) {
  const unsigned key = mine[threadIdx.x];
  bool todo = true;
  unsigned left, at = key % slots;
  while ((left = __ballot_sync(~0u, todo)) != 0) {
    const int lane = __ffs(left) - 1;
    const unsigned now = __shfl_sync(~0u, key, lane), base = __shfl_sync(~0u, at, lane);
    const unsigned found = volatile_load(keys + base + threadIdx.x % 32);
    const unsigned free = __ballot_sync(~0u, found == 0);
    if ((int)threadIdx.x % 32 == lane) {
      if (free != 0 && atomicCAS(keys + base + __ffs(free) - 1, 0u, now) == 0) todo = false;
      if (free == 0) at = (at + 32) % slots;
    }
  }
}

// As mirage's worker: positions of two queues in tables, of which the loop writes one.
KERNEL found_worker_of_two_queues(const u64* ends, const int* ids, u64* out, int queues) {
  __shared__ int id[2];
  __shared__ u64 next[2], last[2];
  if (threadIdx.x < 2) {
    id[threadIdx.x] = ids[threadIdx.x];
    next[threadIdx.x] = last[threadIdx.x] = 0;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  int q = 0;
  while (next[q] == last[q]) {
    last[q] = load_acquire_system(ends + id[q]);
    if (next[q] < last[q]) break;
    q = q == queues - 1 ? 0 : q + 1;
    __nanosleep(10);
  }
  *out = last[q];
}
// The table that says where to look next is the one that the loop writes: a walk.
KERNEL work_follows_own_table(const u64* nodes, u64* out) {
  __shared__ u64 next[2];
  if (threadIdx.x < 2) next[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int q = 0;
  u64 at = 0;
  while (at != ~0ull) {
    at = load_acquire_system(nodes + next[q]);
    next[q] = at;
    q ^= 1;
  }
  *out = next[q];
}
// A bounded look into two queues.
KERNEL work_looks_into_both_once(const u64* ends, u64* out, int queues) {
  __shared__ u64 last[2];
  for (int q = 0; q < queues; ++q) {
    last[q] = load_acquire_system(ends + q);
    if (last[q] > threadIdx.x) break;
  }
  out[0] = last[0];
  out[1] = last[1];
}
// A ring in shared memory that nobody else writes, read back where it was written.
KERNEL work_sums_own_ring(volatile u64* in, u64* out, u64 limit) {
  __shared__ u64 ring[2];
  ring[0] = ring[1] = 0;
  int q = 0;
  while (ring[q] < limit) {
    ring[q] = ring[q ^ 1] + in[0];
    q ^= 1;
  }
  *out = ring[q];
}
// An update with a count, by compare and exchange of what was read: it fails only if another thread comes first.
KERNEL work_counts_by_exchange(u64* state, u64 limit) {
  u64 old = *state, seen;
  do {
    seen = old;
    old = atomicCAS(state, seen, (seen & 0xffffffff) == limit ? 0 : seen + 1);
  } while (old != seen);
}
