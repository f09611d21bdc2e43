// Waits that do not stand in one thread's load and branch, and loops that look like them: half for improving.
// found_*: at least wait_not_patchable. patched_*: wait. work_*: no wait.
#include "../waits/common.h"

KERNEL patched_vote_any(unsigned* f, unsigned v) {
  while (__syncthreads_or(threadIdx.x == 0 && load_acquire(f) != v)) {
  }
}
// As cutlass's Semaphore: one thread fetches, all vote.
KERNEL patched_semaphore(int* lock, int status, bool wait_thread) {
  int state = 0;
  if (wait_thread) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(lock));
  while (__syncthreads_and(state != status)) {
    if (wait_thread) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(lock));
  }
  __syncthreads();
}
KERNEL patched_broadcast(unsigned* f, unsigned* out) {
  __shared__ unsigned seen;
  do {
    if (threadIdx.x == 0) seen = load_acquire(f);
    __syncthreads();
    const unsigned now = *(volatile unsigned*)&seen;
    __syncthreads();
    if (now != 0) break;
  } while (true);
  out[threadIdx.x] = 1;
}
KERNEL patched_two_queues(const unsigned* head, const unsigned* tail, unsigned* out) {
  unsigned q = 0;
  while (volatile_load(head + q) == volatile_load(tail + q)) q ^= 1;
  out[0] = q;
}
KERNEL patched_any_of(const unsigned* flags, int count, int* which) {
  int i = 0;
  while (volatile_load(flags + i) == 0) {
    if (++i == count) i = 0;
  }
  *which = i;
}
KERNEL found_multimem(unsigned* f, unsigned wanted) {
  unsigned sum;
  do {
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(sum) : "l"(f) : "memory");
  } while (sum < wanted);
}
KERNEL found_reports_once(const unsigned* f, unsigned* late, long long limit) {
  const long long begin = clock64();
  bool told = false;
  while (load_acquire(f) == 0) {
    if (!told && clock64() - begin > limit) {
      *late = 1;
      told = true;
    }
  }
}
// As NCCL: an abort flag, asked rarely, and written on the way out.
KERNEL patched_abort_flag(const u64* f, u64 step, const unsigned* abort, unsigned* error) {
  int spins = 0;
  while (load_relaxed_system(f) < step) {
    if (++spins == 10000) {
      spins = 0;
      if (volatile_load(abort) != 0) {
        *error = 1;
        break;
      }
    }
  }
}
KERNEL patched_timeout_then_trap(const unsigned* f, unsigned* error, long long limit) {
  const long long begin = clock64();
  while (load_acquire_system(f) == 0) {
    if (clock64() - begin > limit) {
      *error = blockIdx.x;
      __threadfence_system();
      __trap();
    }
  }
}
KERNEL found_heartbeat(const unsigned* f, unsigned* beats) {
  unsigned n = 0;
  while (load_acquire(f) == 0) *(volatile unsigned*)(beats + blockIdx.x) = ++n;
}
KERNEL patched_counts_in_its_own_memory(const unsigned* f, unsigned* out, int at) {
  volatile unsigned own[4] = {0, 0, 0, 0};
  unsigned n = 0;
  while (load_acquire(f) == 0) own[at & 3] = ++n;
  out[threadIdx.x] = 1;
}
KERNEL patched_lock_in_a_bit(unsigned* state, unsigned* count) {
  if (threadIdx.x == 0) {
    while (atomicOr(state, 0x10u) & 0x10u) {
    }
    *count += 1;
    __threadfence();
    atomicAnd(state, ~0x10u);
  }
}
// A lane takes the lock, and tells the others.
KERNEL patched_lock_of_a_lane(unsigned* locks, unsigned* count) {
  const unsigned lane = threadIdx.x % 32, owner = blockIdx.x % 32;
  for (unsigned before = 1; before & 1u;) {
    unsigned mine = 0;
    if (lane == owner) mine = atomicOr(locks + owner, 1u);
    before = __shfl_sync(~0u, mine, owner);
  }
  count[lane] += 1;
  __threadfence();
  if (lane == owner) atomicAnd(locks + owner, ~1u);
}
// The pause grows; its count ends nothing.
KERNEL patched_range_with_longer_pauses(const unsigned* head, unsigned first, unsigned mine, unsigned* out) {
  unsigned pause = 16, now = load_relaxed(head);
  do {
    if (now > first) {
      if (mine >= first && mine < now) break;
    } else if (now < first && mine < now) {
      break;
    }
    now = load_relaxed(head);
    __nanosleep(pause);
    if (pause < 512) pause *= 2;
  } while (true);
  out[threadIdx.x] = now;
}
// The compiler reads the head again, too, which the program goes on with.
KERNEL patched_room_in_a_ring(const u64* head, const u64* tail, u64* out) {
  u64 place;
  while (true) {
    place = *head;
    if (place - load_relaxed_system(tail) < 64) break;
  }
  out[threadIdx.x] = place;
}
// Searches of what stands there, sums, and votes about computed values.
KERNEL work_probe_table(const unsigned* keys, unsigned key, int mask, int* where) {
  int i = key & mask;
  while (volatile_load(keys + i) != key && volatile_load(keys + i) != 0) i = (i + 1) & mask;
  *where = i;
}
// Sets of two lines, of which each lane reads a word.
KERNEL work_search_in_sets(const unsigned* keys, const unsigned* wanted, int* where, unsigned tasks) {
  const unsigned lane = threadIdx.x % 32;
  bool active = lane < tasks;
  for (unsigned left; (left = __ballot_sync(~0u, active)) != 0;) {
    const unsigned turn = __ffs(left) - 1;
    const unsigned key = __shfl_sync(~0u, wanted[lane], turn);
    unsigned line = key & 1;
    for (unsigned searched = 0; __ballot_sync(~0u, active) == left; ++searched) {
      if (searched >= 2) {
        if (lane == turn) active = false;
        break;
      }
      const unsigned seen = volatile_load(keys + (key % 64 * 2 + line) * 32 + lane);
      const int found = __ffs(__ballot_sync(~0u, seen == key)) - 1;
      if (found >= 0) {
        if (lane == turn) {
          where[turn] = found;
          active = false;
        }
        break;
      }
      if (__ballot_sync(~0u, seen == ~0u) != 0) {
        if (lane == turn) active = false;
        break;
      }
      line = (line + 1) % 2;
    }
  }
}
KERNEL work_vote_on_counts(float* data, int n) {
  int i = threadIdx.x;
  while (__syncthreads_or(i < n)) {
    if (i < n) data[i] *= 2;
    i += blockDim.x;
  }
}
KERNEL work_sum_through_shared(const volatile float* data, float* out, int n) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    if (threadIdx.x == 0) sum += data[i];
    __syncthreads();
    if (sum > 1e9f) break;
  }
  out[threadIdx.x] = sum;
}
KERNEL work_converge(float* x, float* y, int n) {
  __shared__ int changed;
  do {
    __syncthreads();
    if (threadIdx.x == 0) changed = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const float next = 0.5f * (x[i] + y[i]);
      if (next != x[i]) changed = 1;
      x[i] = next;
    }
    __syncthreads();
  } while (changed);
}
KERNEL work_list(const int* next, int from, int* last) {
  while (volatile_load(next + from) >= 0) from = volatile_load(next + from);
  *last = from;
}
KERNEL work_two_buffers(float* a, float* b, int n) {
  int q = 0;
  float* of[2] = {a, b};
  for (int i = 0; i < n; ++i) {
    of[q][threadIdx.x] = of[q ^ 1][threadIdx.x] + 1;
    q ^= 1;
    __syncthreads();
  }
}

// What the code between a loop and its word hides without optimization: wrappers' arguments, objects behind pointers,
// captures, bytes, lanes.
struct Slots {
  unsigned* words;
  __device__ unsigned put(unsigned at, unsigned value) { return atomicCAS(words + at, 0u, value); }
};
KERNEL patched_slot_of_wrapper(Slots* slots, unsigned value) {
  while (slots->put(blockIdx.x, value) != 0u) __nanosleep(20);
}
__device__ __noinline__ void take(unsigned* words, unsigned at, unsigned& value) {
  while ((value = atomicExch(words + at, 0u)) == 0u) __nanosleep(20);
}
KERNEL found_result_by_reference(unsigned* words, unsigned* out) {
  unsigned value;
  take(words, blockIdx.x, value);
  *out = value;
}
template <class Work>
__device__ __noinline__ void call(const Work& work) {
  work();
}
KERNEL found_lock_with_captured_flag(unsigned* words, const int* which, int* data) {
  bool done = false;
  const int at = *which;
  call([&] {
    while (!done) {
      if ((atomicOr(words + at / 32, 1u << at % 32) >> at % 32 & 1u) != 0u) continue;
      data[at] += 1;
      __threadfence();
      atomicAnd(words + at / 32, ~(1u << at % 32));
      done = true;
    }
  });
}
KERNEL patched_bytes_of_a_number(const double* word, double* out) {
  double seen;
  u64 bits, empty;
  do {
    asm volatile("ld.relaxed.gpu.f64 %0, [%1];" : "=d"(seen) : "l"(word) : "memory");
    const double none = __longlong_as_double(0x7ff8000000000000);
    memcpy(&bits, &seen, sizeof(bits));
    memcpy(&empty, &none, sizeof(empty));
  } while (bits == empty);
  *out = seen;
}
__device__ unsigned handed_on(const unsigned& value, unsigned lane) { return __shfl_sync(~0u, value, lane); }
__device__ bool lane_takes(unsigned* lock, unsigned lane) {
  unsigned old;
  if (threadIdx.x % 32 == lane) old = atomicOr(lock, 1u);
  old = handed_on(old, lane);
  return (old & 1u) == 0u;
}
KERNEL patched_lock_of_one_lane(unsigned* lock, int* data) {
  while (!lane_takes(lock, 31)) {
  }
  *data += 1;
}
KERNEL work_bits_of_a_mask(unsigned* words, unsigned mask, unsigned* out) {
  unsigned old = 1u;
  while (mask != 0u && old != 0u) {
    old = atomicCAS(words + __ffs(mask) - 1, 0u, 7u);
    mask &= mask - 1;
  }
  *out = old;
}
struct Cursor {
  const unsigned* at;
  unsigned seen;
};
KERNEL work_cursor_in_an_object(Cursor* cursor) {
  while (load_acquire(cursor->at) != 0u) cursor->at = cursor->at + 1;
}
struct Link {
  Link* next;
  unsigned full;
};
KERNEL work_list_in_an_object(Link** cursor) {
  while (load_acquire(&(*cursor)->full) != 0u) *cursor = (*cursor)->next;
}
KERNEL work_captured_end(const unsigned* words, int n, unsigned* out) {
  bool done = false;
  unsigned sum = 0;
  int i = 0;
  call([&] {
    while (!done) {
      sum += load_acquire(words + i);
      if (++i == n) done = true;
    }
  });
  *out = sum;
}
KERNEL work_sum_in_an_object(Cursor* cursor, unsigned limit) {
  do {
    cursor->seen += load_acquire(cursor->at);
  } while (cursor->seen < limit);
}
// The pause doubles; once it is long, the clock says whether a word is stored that ends the loop.
KERNEL found_long_pause_asks_the_clock(const unsigned* f, unsigned seen, unsigned* stop, u64 end) {
  unsigned pause = 32;
  while (load_acquire_system(f) == seen) {
    __nanosleep(pause);
    if (pause < 2048) {
      pause *= 2;
    } else {
      *stop = global_time() > end;
    }
    if (*stop != 0) break;
  }
}
// A number that doubles, too, but no pause: it says which word is read.
KERNEL work_doubled_place(const unsigned* words, unsigned last, unsigned* out) {
  unsigned at = 1;
  while (volatile_load(words + at) != 0) {
    __nanosleep(100);
    if (at >= last) break;
    at *= 2;
  }
  *out = at;
}
// What is still missing loses a bit for each word that has come.
KERNEL patched_bits_of_those_missing(const unsigned* f, unsigned epoch, unsigned missing) {
  while (missing != 0) {
    if ((missing & 1) != 0 && load_acquire(f) == epoch) missing &= ~1u;
    if ((missing & 2) != 0 && load_acquire(f + 32) == epoch) missing &= ~2u;
    __nanosleep(40);
  }
}
// Here a bit comes back, so the loop collects.
KERNEL work_bits_that_come_back(const unsigned* f, unsigned bits, unsigned* out) {
  while (bits != 0) {
    bits = (bits ^ volatile_load(f)) * 5;
  }
  *out = bits;
}
KERNEL found_word_kept_in_shared_memory(const unsigned* f, unsigned seen, unsigned* out) {
  __shared__ unsigned word;
  if (threadIdx.x == 0) {
    while ((word = load_acquire_system(f)) == seen) __nanosleep(20);
  }
  __syncthreads();
  out[threadIdx.x] = word;
}
