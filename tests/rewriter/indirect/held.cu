// Waits that do not stand in one thread's load and branch, and loops that look like them: half that only judges.
// found_*: at least wait_not_patchable. patched_*: wait. work_*: no wait.
#include "../waits/common.h"

KERNEL patched_vote_all_arrived(const unsigned* flags, unsigned epoch) {
  while (!__syncthreads_and(load_relaxed(flags + threadIdx.x) >= epoch)) {
  }
}
KERNEL patched_vote_count(const unsigned* flags, int need) {
  while (__syncthreads_count(volatile_load(flags + threadIdx.x) != 0) < need) __nanosleep(64);
}
KERNEL patched_vote_with_fetch(unsigned* ticket, unsigned mine) {
  bool go = false;
  do {
    if (threadIdx.x == 0) go = atomicAdd(ticket, 0u) == mine;
    go = __syncthreads_or(go);
  } while (!go);
}
KERNEL patched_broadcast_while(volatile int* f, int wanted, int* out) {
  __shared__ int copy;
  if (threadIdx.x == 0) copy = *f;
  __syncthreads();
  while (*(volatile int*)&copy != wanted) {
    __syncthreads();
    if (threadIdx.x == 0) copy = *f;
    __syncthreads();
  }
  out[threadIdx.x] = wanted;
}
KERNEL patched_broadcast_pointer(u64* f, u64* out) {
  extern __shared__ u64 words[];
  u64 seen;
  do {
    if (threadIdx.x == 31) words[0] = load_acquire_system(f);
    __syncthreads();
    seen = words[0];
    __syncthreads();
  } while (seen == 0);
  out[threadIdx.x] = seen;
}
// As mirage's worker, which takes from its own queue and from a shared one in turn.
KERNEL patched_worker_queues(const u64* own_end, const u64* shared_end, u64 own, u64 shared, u64* out) {
  int queue = 0;
  u64 end = 0, at[2] = {own, shared};
  const u64* ends[2] = {own_end, shared_end};
  while (true) {
    end = load_acquire_system(ends[queue]);
    if (at[queue] < end) break;
    queue = (queue == 1) ? 0 : queue + 1;
    __nanosleep(10);
  }
  out[0] = queue;
  out[1] = end;
}
// As nvshmem's wait_any.
KERNEL patched_wait_any(u64* flags, const int* status, int n, u64 value, int* which) {
  int i = 0;
  while (true) {
    if (status[i] == 0 && *(volatile u64*)(flags + i) == value) break;
    i = (i + 1) % n;
  }
  *which = i;
}
KERNEL patched_any_of_inner(const unsigned* flags, int n, int* which) {
  int found = -1;
  while (found < 0) {
    for (int i = 0; i < n; ++i) {
      if (load_acquire(flags + i) != 0) {
        found = i;
        break;
      }
    }
  }
  *which = found;
}
KERNEL found_multimem_max(int* f, int wanted) {
  int most;
  do {
    asm volatile("multimem.ld_reduce.acquire.sys.global.max.s32 %0, [%1];" : "=r"(most) : "l"(f) : "memory");
    if (most < wanted) __nanosleep(100);
  } while (most < wanted);
}
KERNEL found_prints_each_second(const unsigned* f, u64* log) {
  u64 next = global_time() + 1000000000ull;
  while (volatile_load(f) == 0) {
    const u64 now = global_time();
    if (now > next) {
      *(volatile u64*)log = now;
      next = now + 1000000000ull;
    }
  }
}
// As DeepEP: a time-out, told, and then a trap.
KERNEL patched_timeout_told(const int* f, int expected, int* told, long long limit) {
  const long long begin = clock64();
  int value;
  while (true) {
    asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(f) : "memory");
    if (value == expected) break;
    if (clock64() - begin > limit) {
      told[blockIdx.x] = value;
      __trap();
    }
  }
}
KERNEL patched_stop_word(const unsigned* f, const unsigned* stop, int* result) {
  int code = 0;
  while (load_acquire_system(f) == 0) {
    if (load_acquire_system(stop) != 0) {
      code = -1;
      result[blockIdx.x] = code;
      return;
    }
  }
  if (threadIdx.x == 0) result[blockIdx.x] = code;
}
KERNEL found_beats_seldom(const unsigned* f, unsigned* beats) {
  for (unsigned n = 0; load_relaxed(f) == 0; ++n) {
    if ((n & 1023) == 0) store_release_system(beats, n);
  }
}
KERNEL found_beats_atomic(const unsigned* f, unsigned* beats) {
  while (volatile_load(f) == 0) atomicAdd(beats, 1u);
}
KERNEL patched_history(const unsigned* f, unsigned* out, int size) {
  volatile unsigned last[8];
  unsigned n = 0, value;
  do {
    value = load_acquire(f);
    last[n & 7] = value;
    ++n;
  } while (value < 100);
  out[0] = last[size & 7];
}
KERNEL work_first_free(unsigned* slots, int n, int* mine) {
  for (int i = 0; i < n; ++i) {
    if (volatile_load(slots + i) == 0) {
      *mine = i;
      break;
    }
  }
}
KERNEL work_vote_bfs(const int* edges, int* level, int n, int step) {
  bool more = true;
  while (__syncthreads_or(more)) {
    more = false;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      if (level[edges[i]] == step && level[i] < 0) {
        level[i] = step + 1;
        more = true;
      }
    }
    ++step;
  }
}
KERNEL work_binary_search(const volatile int* sorted, int n, int key, int* where) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *where = low;
}
KERNEL work_tile_loop(const float* in, float* out, int tiles) {
  __shared__ float tile[256];
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    tile[threadIdx.x] = in[t * 256 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 256; ++i) sum += tile[i];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
KERNEL work_next_tile(int* counter, float* data, int tiles) {
  __shared__ int tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
    __syncthreads();
    const int mine = tile;
    __syncthreads();
    if (mine >= tiles) break;
    data[mine * blockDim.x + threadIdx.x] *= 2;
  }
}
KERNEL work_ring_walk(const volatile int* ring, int mask, int from, int* out) {
  int sum = 0, i = from;
  do {
    sum += ring[i];
    i = (i + 1) & mask;
  } while (i != from);
  *out = sum;
}
KERNEL work_reduce_shared(const float* in, float* out) {
  __shared__ volatile float part[256];
  part[threadIdx.x] = in[threadIdx.x];
  for (int half = 128; half > 0; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *out = part[0];
}
