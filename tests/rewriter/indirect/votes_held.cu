// Votes of the block, words that one thread passes on, words in turn, and loops that look like them: half that only
// judges. patched_*: wait. found_*: at least wait_not_patchable. stay_*: that and no more. work_*: no wait.
#include "../waits/common.h"

KERNEL patched_lanes_vote(const unsigned* flags, unsigned epoch) {
  const bool leads = threadIdx.x % 32 == 0;
  while (!__syncthreads_and(!leads || load_acquire_system(flags + threadIdx.x / 32) == epoch)) {
  }
}
KERNEL patched_named_barrier(const unsigned* f, unsigned v, int threads) {
  unsigned waits;
  do {
    waits = threadIdx.x == 0 && load_relaxed(f) != v;
    asm volatile("{\n.reg .pred %%p;\nsetp.ne.u32 %%p, %0, 0;\nbarrier.cta.red.popc.aligned.u32 %0, 3, %1, %%p;\n}\n"
                 : "+r"(waits)
                 : "r"(threads)
                 : "memory");
  } while (waits != 0);
}
KERNEL patched_vote_or_clock(const u64* f, u64 step, long long limit, unsigned* late) {
  const long long begin = clock64();
  bool waits;
  do {
    waits = false;
    if (threadIdx.x == 0) waits = load_relaxed_system(f) < step && clock64() - begin < limit;
  } while (__syncthreads_or(waits));
  if (threadIdx.x == 0 && clock64() - begin >= limit) *late = 1;
}
KERNEL patched_sleeps_between_votes(const int* f, int v, int* out) {
  while (true) {
    const int now = threadIdx.x == blockDim.x - 1 ? load_cg(f) : v;
    if (__syncthreads_and(now == v)) break;
    __nanosleep(100);
  }
  out[threadIdx.x] = v;
}
KERNEL patched_vote_of_two(const unsigned* head, const unsigned* tail, unsigned* out) {
  unsigned at = 0;
  while (__syncthreads_or(threadIdx.x == 0 && (at = load_acquire(head)) == volatile_load(tail))) {
  }
  if (threadIdx.x == 0) *out = at;
}
KERNEL patched_passes_epoch_on(const u64* f, u64 epoch, u64* out) {
  __shared__ u64 now;
  u64 mine;
  do {
    if (threadIdx.x == 0) now = load_acquire_system(f);
    __syncthreads();
    mine = now;
    __syncthreads();
  } while (mine < epoch);
  out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
KERNEL patched_passes_on_in_pairs(const unsigned* f, unsigned* out) {
  __shared__ unsigned pair[2];
  int of = 0;
  while (true) {
    if (threadIdx.x == 64) pair[0] = volatile_load(f);
    __syncthreads();
    if (pair[0] == 7) break;
    __syncthreads();
    ++of;
  }
  out[threadIdx.x] = 7;
}
// As mirage's scheduler: queues of events in turn, until one has more or all is over.
KERNEL patched_scheduler(const u64* ends, const u64* positions, int n, const unsigned* over, int* which) {
  int q = 0;
  while (true) {
    if (load_acquire(over) != 0) {
      q = -1;
      break;
    }
    if (load_acquire_system(ends + q) > positions[q]) break;
    q = (q == n - 1) ? 0 : q + 1;
  }
  *which = q;
}
KERNEL patched_ring_of_flags(const unsigned* flags, unsigned mask, unsigned from, unsigned* which) {
  unsigned i = from & mask;
  while (load_acquire(flags + i) == 0) {
    __nanosleep(20);
    i = (i + 1) & mask;
  }
  *which = i;
}
KERNEL patched_alternates(const unsigned* a, const unsigned* b, unsigned v, int* which) {
  bool second = false;
  while (volatile_load(second ? b : a) != v) second = !second;
  *which = second;
}
// As nvshmem's wait_until_any with a status for each flag.
KERNEL patched_any_with_status(const u64* flags, const int* status, int n, u64 value, int* which) {
  int i = 0;
  for (bool found = false; !found;) {
    for (i = 0; i < n; ++i) {
      if (status[i] == 0 && volatile_load(flags + i) >= value) {
        found = true;
        break;
      }
    }
  }
  *which = i;
}
KERNEL stay_first_token(unsigned* tokens, unsigned mask, unsigned* which) {
  unsigned i = threadIdx.x & mask;
  while (atomicExch(tokens + i, 0u) == 0) i = (i + 1) & mask;
  *which = i;
}

KERNEL work_gauss_seidel(volatile float* x, int n, float small) {
  float largest;
  do {
    largest = 0;
    for (int i = threadIdx.x + 1; i + 1 < n; i += blockDim.x) {
      const float next = 0.5f * (x[i - 1] + x[i + 1]);
      largest = fmaxf(largest, fabsf(next - x[i]));
      x[i] = next;
    }
  } while (__syncthreads_or(largest > small));
}
KERNEL work_find(const unsigned* keys, unsigned key, unsigned mask, int* where) {
  unsigned i = key & mask;
  int at = -1;
  while (true) {
    const unsigned here = volatile_load(keys + i);
    if (here == key) at = i;
    if (here == key || here == 0) break;
    i = (i + 1) & mask;
  }
  *where = at;
}
KERNEL work_pop(int* top, const int* next, int* out) {
  int head = volatile_load(top);
  while (head >= 0) {
    const int before = atomicCAS(top, head, next[head]);
    if (before == head) break;
    head = before;
  }
  *out = head;
}
KERNEL work_tiles_of_a_list(const volatile int* list, float* data) {
  __shared__ int tile;
  for (int i = 0;; ++i) {
    if (threadIdx.x == 0) tile = list[i];
    __syncthreads();
    const int mine = tile;
    __syncthreads();
    if (mine < 0) break;
    data[mine * blockDim.x + threadIdx.x] += 1;
  }
}
KERNEL work_longest_run(const volatile int* in, int n, int* out) {
  int length = 0;
  for (int i = threadIdx.x; __syncthreads_and(i < n && in[i] == in[0]); i += blockDim.x) ++length;
  *out = length;
}
KERNEL work_two_stacks(const volatile int* a, const volatile int* b, int* out, int n) {
  int at[2] = {0, 0}, q = 0, written = 0;
  while (written < n) {
    out[written++] = q ? b[at[1]++] : a[at[0]++];
    q ^= 1;
  }
}
KERNEL work_votes_on_a_flag_it_sets(unsigned* done, const float* in, float* out, int n) {
  int i = threadIdx.x;
  while (__syncthreads_or(volatile_load(done) == 0)) {
    if (i < n) out[i] = in[i] * 2;
    i += blockDim.x;
    if (threadIdx.x == 0 && i >= n) *(volatile unsigned*)done = 1;
  }
}
