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
