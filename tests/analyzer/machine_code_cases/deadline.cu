// Waits that can end without the word, and loops that end by a clock or a count.
#include "cases.h"

CASE(wait_clock_deadline) {
  const long long start = clock64();
  bool ok = true;
  while (volatile_load(WORD(0)) == 0) {
    if (clock64() - start > 4000000000ll) {
      ok = false;
      break;
    }
  }
  out[ELEMENT] = ok;
}
CASE(wait_timer_deadline) {
  const u64 end = global_time() + 4000000000ull;
  unsigned value;
  do value = load_acquire(WORD(0));
  while (value < want && global_time() < end);
  out[ELEMENT] = value;
}
CASE(wait_poll_limit) {
  unsigned polls = 0;
  while (volatile_load(WORD(0)) == 0 && polls < 2000000000u) ++polls;
  out[ELEMENT] = polls;
}
CASE(wait_abort_flag) {
  while (volatile_load(WORD(0)) == 0) {
    if (volatile_load(bound + 5) != 0) break;
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_abort_flag_seldom) {
  unsigned polls = 0;
  while (volatile_load(WORD(0)) == 0) {
    if (++polls == 10000) {
      polls = 0;
      if (volatile_load(bound + 5) != 0) break;
    }
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_deadline_and_sleep) {
  const u64 start = global_time();
  while (load_acquire(WORD(0)) != want) {
    if (global_time() - start > 4000000000ull) __trap();
    __nanosleep(64);
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_until_clock) {
  const long long start = clock64();
  float x = data[ELEMENT];
  while (clock64() - start < 2000ll * n) x = x * 1.0001f + 0.5f;
  out[ELEMENT] = x;
}
CASE(work_latency_probe) {
  const volatile unsigned* place = WORD(0);
  unsigned sum = 0;
  const long long start = clock64();
  for (unsigned i = 0; i < n; ++i) sum += *place;
  out[ELEMENT] = sum + (float)(clock64() - start);
}
CASE(work_converges) {
  float x = data[ELEMENT] + 2, last;
  unsigned rounds = 0;
  do {
    last = x;
    x = 0.5f * (x + 3.0f / x);
  } while ((x != last || rounds < 64 * n) && ++rounds < 128 * n);
  out[ELEMENT] = x;
}
