// Waits whose loops carry a value from round to round, and loops that look like them: half that was written before
// anybody looked at its verdicts, and was looked at then. Names as in votes_held.cu.
#include "../waits/common.h"

KERNEL patched_peers_of_64(const u64* heads, u64 missing, u64 head) {
  do {
    for (int peer = 0; peer < 64; ++peer) {
      if ((missing & 1ull << peer) != 0 && load_acquire_system(heads + peer) >= head) missing ^= missing & 1ull << peer;
    }
  } while (missing != 0);
}
KERNEL patched_highest_first(const unsigned* flags, unsigned waiting) {
  while (waiting) {
    const unsigned top = 1u << (31 - __clz(waiting));
    if (load_acquire(flags + (31 - __clz(waiting))) == 0) continue;
    waiting &= ~top;
  }
}
KERNEL patched_mask_by_lane(const unsigned* flags, unsigned n, unsigned value) {
  unsigned lanes = n >= 32 ? ~0u : (1u << n) - 1;
  while (lanes != 0) {
    const bool here = (lanes >> threadIdx.x % 32 & 1) != 0 && load_acquire(flags + threadIdx.x % 32) == value;
    lanes &= ~__ballot_sync(~0u, here);
  }
}
KERNEL found_mask_and_heartbeat(const unsigned* ready, unsigned mask, unsigned* beat) {
  unsigned rounds = 0;
  while (mask != 0) {
    if (volatile_load(ready + __ffs(mask) - 1) != 0) mask &= mask - 1;
    *(volatile unsigned*)beat = ++rounds;
  }
}

KERNEL work_first_of_mask(const unsigned* slots, unsigned mask, unsigned* where) {
  unsigned at = ~0u;
  for (unsigned left = mask; left != 0 && at == ~0u; left &= left - 1) {
    const unsigned i = __ffs(left) - 1;
    const unsigned slot = load_relaxed(slots + i);
    if (slot == 0 || slot == threadIdx.x) at = i;
  }
  *where = at;
}
KERNEL work_mask_from_memory(const unsigned* rows, unsigned column, int n, unsigned* degree) {
  unsigned sum = 0;
  for (int row = 0; row < n; ++row) {
    unsigned bits = load_relaxed(rows + row) & column;
    while (bits != 0) {
      sum += load_relaxed(rows + __ffs(bits) - 1);
      bits &= bits - 1;
    }
  }
  *degree = sum;
}
KERNEL work_sifts(volatile unsigned* values, unsigned mask) {
  while (mask != 0) {
    const int i = __ffs(mask) - 1;
    const unsigned value = values[i];
    if (value % 2 == 0 && value != 0) {
      values[i] = value / 2;
    } else {
      mask &= ~(1u << i);
    }
  }
}
KERNEL work_bits_by_own_counter(unsigned mask, const unsigned* weights, unsigned* out) {
  unsigned sum = 0, random = threadIdx.x;
  while (mask != 0) {
    random = random * 1664525u + 1013904223u;
    sum += load_relaxed(weights + (random >> 27));
    if (random >> 31) mask &= mask - 1;
  }
  *out = sum;
}
KERNEL work_marks_frontier(unsigned* seen, unsigned mask, unsigned* next) {
  unsigned count = 0;
  while (mask != 0) {
    const unsigned i = __ffs(mask) - 1;
    if (atomicExch(seen + i, 1u) == 0) {
      next[count++] = i;
    } else {
      mask &= mask - 1;
    }
  }
}
KERNEL work_reads_out_channels(const unsigned* levels, unsigned mask, unsigned* out) {
  do {
    const unsigned i = __ffs(mask) - 1;
    out[i] = mask == 0 ? 0 : load_acquire(levels + i);
    mask = out[i] > 7 ? mask & ~(1u << i) : mask & (mask - 1);
  } while (mask != 0);
}
