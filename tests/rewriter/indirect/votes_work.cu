// Votes of the block, words that one thread passes on, words in turn, and loops that look like them: half for
// improving. patched_*: wait. found_*: at least wait_not_patchable. stay_*: that and no more. work_*: no wait.
#include "../waits/common.h"

KERNEL patched_all_flags(const unsigned* flags, unsigned epoch, unsigned* out) {
  while (!__syncthreads_and(load_acquire(flags + threadIdx.x) >= epoch)) {
  }
  out[threadIdx.x] = epoch;
}
// As cutlass's Semaphore: fetch(), wait(), release().
KERNEL patched_semaphore(int* lock, int status, int next, float* data) {
  const bool wait_thread = threadIdx.x == 0;
  int state = -1;
  if (wait_thread) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\n" : "=r"(state) : "l"(lock));
  while (__syncthreads_and(state != status)) {
    if (wait_thread) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\n" : "=r"(state) : "l"(lock));
  }
  __syncthreads();
  data[threadIdx.x] += 1;
  __syncthreads();
  if (wait_thread) asm volatile("st.global.release.gpu.b32 [%0], %1;\n" ::"l"(lock), "r"(next));
}
KERNEL patched_count_arrived(const unsigned* flags, int n, unsigned epoch) {
  while (__syncthreads_count(threadIdx.x < n && volatile_load(flags + 32 * threadIdx.x) == epoch) < n) {
  }
}
KERNEL patched_vote_with_deadline(const unsigned* f, unsigned v, unsigned* failed, u64 deadline) {
  while (__syncthreads_or(threadIdx.x == 0 && load_acquire_system(f) < v)) {
    if (global_time() > deadline) {
      *failed = 1;
      break;
    }
  }
}
KERNEL patched_passed_on(const unsigned* f, float* data) {
  __shared__ unsigned seen;
  while (true) {
    if (threadIdx.x == 0) seen = load_acquire(f);
    __syncthreads();
    const unsigned now = seen;
    __syncthreads();
    if (now != 0) break;
  }
  data[threadIdx.x] *= 2;
}
KERNEL found_passed_on_and_told(const unsigned* f, float* data, u64 deadline, unsigned* late) {
  __shared__ unsigned seen;
  while (true) {
    if (threadIdx.x == 0) {
      seen = load_acquire(f);
      if (global_time() > deadline) *late = 1;
    }
    __syncthreads();
    const unsigned now = seen;
    __syncthreads();
    if (now != 0) break;
  }
  data[threadIdx.x] *= 2;
}
KERNEL patched_passed_on_flag(const unsigned* f, unsigned v, float* data) {
  __shared__ bool ready;
  do {
    __syncthreads();
    if (threadIdx.x == 0) ready = volatile_load(f) >= v;
    __syncthreads();
  } while (!ready);
  data[threadIdx.x] *= 2;
}
KERNEL patched_two_rings(const u64* ends, u64 first, u64 second, u64* out) {
  unsigned q = 0;
  while (load_acquire_system(ends + q) <= (q == 0 ? first : second)) q ^= 1;
  out[0] = q;
}
KERNEL patched_round_robin(const unsigned* flags, int n, int from, int* which) {
  int i = from;
  while (load_acquire(flags + 32 * i) == 0) i = (i + 1) % n;
  *which = i;
}
// As nvshmem's wait_any: scans all, from where it stopped.
KERNEL patched_wait_any(const u64* flags, int n, int from, u64 value, int* which) {
  int found = -1;
  while (found < 0) {
    for (int k = 0; k < n; ++k) {
      const int i = (k + from) % n;
      if (volatile_load(flags + i) == value) {
        found = i;
        break;
      }
    }
  }
  *which = found;
}
// As mirage's worker: positions in local memory, its own queue and a shared one in turn.
KERNEL patched_worker(const u64* const* ends, const u64* begins, int n, u64* out) {
  u64 current[2], last[2];
  for (int i = 0; i < n; ++i) current[i] = last[i] = begins[i];
  int q = 0;
  while (current[q] == last[q]) {
    last[q] = load_acquire_system(ends[q]);
    if (current[q] < last[q]) break;
    q = (q == n - 1) ? 0 : q + 1;
    __nanosleep(10);
  }
  out[0] = q;
  out[1] = last[q];
}
// Takes one of several locks: whether it waits, or inserts into a table, the code does not tell.
KERNEL stay_first_lock(int* locks, int n, int mine, int* which) {
  int i = mine;
  while (atomicCAS(locks + i, 0, 1) != 0) i = (i + 1) % n;
  *which = i;
}

KERNEL work_odd_even_sort(int* values, int n) {
  bool swapped = false;
  int odd = 0;
  do {
    swapped = false;
    for (int i = 2 * threadIdx.x + odd; i + 1 < n; i += 2 * blockDim.x) {
      if (values[i] > values[i + 1]) {
        const int kept = values[i];
        values[i] = values[i + 1];
        values[i + 1] = kept;
        swapped = true;
      }
    }
    odd ^= 1;
  } while (__syncthreads_or(swapped));
}
KERNEL work_relax(const int* from, const int* to, const int* cost, volatile int* distance, int n) {
  bool changed;
  do {
    changed = false;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const int through = distance[from[i]] + cost[i];
      if (through < distance[to[i]]) {
        distance[to[i]] = through;
        changed = true;
      }
    }
  } while (__syncthreads_or(changed));
}
KERNEL work_insert(unsigned* keys, unsigned key, int mask, int* where) {
  int i = (key * 2654435761u) & mask;
  while (true) {
    const unsigned before = atomicCAS(keys + i, 0u, key);
    if (before == 0 || before == key) break;
    i = (i + 1) & mask;
  }
  *where = i;
}
KERNEL work_read_until_zero(const int* in, int n, int* out) {
  int i = threadIdx.x;
  while (__syncthreads_or(i < n && volatile_load(in + i) > 0)) i += blockDim.x;
  out[threadIdx.x] = i;
}
KERNEL work_tickets(unsigned* ticket, float* data, unsigned n) {
  __shared__ unsigned mine;
  do {
    __syncthreads();
    if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
    __syncthreads();
    if (mine < n) data[mine * blockDim.x + threadIdx.x] += 1;
  } while (mine < n);
}
KERNEL work_counts(const volatile int* in, int n, int need, int* out) {
  int total = 0;
  for (int base = 0; base < n && total < need; base += blockDim.x)
    total += __syncthreads_count(in[base + threadIdx.x] > 0);
  *out = total;
}
KERNEL work_turns_of_sums(const volatile float* a, const volatile float* b, float limit, float* out) {
  const volatile float* of[2] = {a, b};
  float sum = 0;
  int q = 0;
  while (sum < limit) {
    sum += *of[q];
    q ^= 1;
  }
  *out = sum;
}
KERNEL work_passes_a_sum_on(const volatile int* in, int limit, int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int i = 0;
  while (sum < limit) {
    __syncthreads();
    if (threadIdx.x == 0) sum += in[i];
    ++i;
    __syncthreads();
  }
  out[threadIdx.x] = i;
}
