// Waits with time-outs, counters, second words and signs of life; and loops over time that wait for nobody.
#include <cassert>
#include <cstdio>

#include "common.h"

KERNEL stay_writes_clock(const unsigned* flag, long long* alive) {
  while (volatile_load(flag) == 0) *(volatile long long*)alive = clock64();
}
KERNEL stay_counts_by_atomic(const unsigned* flag, unsigned* polls) {
  while (volatile_load(flag) == 0) atomicAdd(polls, 1);
}
KERNEL stay_prints_when_late(const unsigned* flag, float* out) {
  unsigned polls = 0;
  while (volatile_load(flag) == 0) {
    if (++polls == 1u << 24) printf("block %d waits\n", blockIdx.x);
  }
  out[threadIdx.x] += 1;
}
KERNEL stay_heartbeat_every_thousand(const unsigned* flag, unsigned* alive) {
  unsigned polls = 0;
  while (volatile_load(flag) == 0) {
    if (++polls % 1000 == 0) *(volatile unsigned*)alive = polls;
  }
}
KERNEL wait_polls_counted(const unsigned* flag, unsigned* polls) {
  unsigned count = 0;
  while (volatile_load(flag) == 0) ++count;
  polls[threadIdx.x] = count;
}
KERNEL wait_or_stop(const unsigned* flag, const unsigned* stop, float* out) {
  while (volatile_load(flag) == 0) {
    if (volatile_load(stop) != 0) return;
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_until_time(const unsigned* flag, u64 limit, unsigned* late) {
  const u64 begin = global_time();
  while (load_acquire(flag) == 0) {
    if (global_time() - begin > limit) {
      *late = 1;
      return;
    }
  }
}
KERNEL wait_cycles_at_most(const unsigned* flag, long long cycles, int* status) {
  const long long begin = clock64();
  int result = 0;
  while (volatile_load(flag) == 0) {
    if (clock64() - begin > cycles) {
      result = -1;
      break;
    }
  }
  status[threadIdx.x] = result;
}
KERNEL wait_tries_at_most(const unsigned* flag, unsigned tries, unsigned* seen) {
  unsigned left = tries;
  unsigned value;
  do {
    value = volatile_load(flag);
  } while (value == 0 && --left != 0);
  seen[threadIdx.x] = value;
}
KERNEL wait_abort_looked_at_seldom(const unsigned* flag, const unsigned* abort, unsigned want, float* out) {
  unsigned spins = 0;
  while (volatile_load(flag) != want) {
    if (++spins == 10000) {
      if (volatile_load(abort)) return;
      spins = 0;
    }
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_asserts_progress(const u64* semaphore, u64 want, float* out) {
  long long spins = 0;
  while (load_acquire_system(semaphore) < want) {
    assert(++spins < 100000000);
  }
  out[threadIdx.x] += 1;
}
KERNEL either_traps_when_late(const unsigned* flag, float* out) {
  unsigned spins = 0;
  while (volatile_load(flag) == 0) {
    if (++spins > 1000000000u) __trap();
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_sleep_grows_with_time(const unsigned* flag, float* out) {
  const u64 begin = global_time();
  while (load_acquire(flag) == 0) {
    const u64 elapsed = global_time() - begin;
    __nanosleep(elapsed > 4000 ? 1000 : (unsigned)elapsed / 4);
  }
  out[threadIdx.x] += 1;
}
KERNEL work_delay_of_cycles(long long cycles, float* out) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  out[threadIdx.x] += 1;
}
KERNEL work_sleep_for_time(u64 ns) {
  const u64 begin = global_time();
  while (global_time() - begin < ns) __nanosleep(100);
}
KERNEL work_computes_for_time(u64 ns, float* out) {
  const u64 begin = global_time();
  float x = threadIdx.x;
  while (global_time() - begin < ns) x = x * 1.0001f + 0.1f;
  out[threadIdx.x] = x;
}
KERNEL work_samples_of_clock(long long* samples, int n) {
  for (int i = 0; i < n; ++i) samples[i] = clock64();
}
KERNEL work_measures_latency(const unsigned* chain, unsigned hops, long long* cycles) {
  const long long begin = clock64();
  unsigned at = 0;
  for (unsigned i = 0; i < hops; ++i) at = volatile_load(chain + at);
  cycles[0] = clock64() - begin + (at == ~0u);
}
KERNEL work_reports_progress(const float* in, float* out, int n, volatile int* progress) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    if (i % 1024 == 0) *progress = i;
  }
  out[threadIdx.x] = sum;
}
