// Bounds in memory: loops that end at one, and waits for one.
#include "cases.h"

CASE(wait_for_count) {
  while (volatile_load(WORD(0)) < volatile_load(bound + 1)) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_for_range) {
  for (;;) {
    const unsigned value = volatile_load(WORD(0));
    if (value >= volatile_load(bound + 1) && value < volatile_load(bound)) break;
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_for_difference) {
  while ((int)(volatile_load(WORD(0)) - want) < 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_rounds) {
  for (unsigned round = 1; round <= want; ++round) {
    while (volatile_load(WORD(0)) < round) {
    }
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_count_to_bound) {
  unsigned x = ELEMENT;
  for (unsigned i = 0; i < volatile_load(bound); ++i) x = x * 3;
  out[ELEMENT] = x;
}
CASE(work_empty_count_to_bound) {
  unsigned i = 0;
  while (i < volatile_load(bound)) ++i;
  out[ELEMENT] = i;
}
CASE(work_strided_count_to_bound) {
  unsigned count = 0;
  for (unsigned i = ELEMENT & 31; i < load_acquire(bound); i += 32) ++count;
  out[ELEMENT] = count;
}
CASE(work_walk_below_limit) {
  unsigned x = ELEMENT + 1;
  do {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  } while (x > volatile_load(bound + 2));
  out[ELEMENT] = x;
}
CASE(work_congruence_below_limit) {
  unsigned x = ELEMENT + 1;
  while (x > volatile_load(bound + 2)) x = x * 1664525u + 1013904223u;
  out[ELEMENT] = x;
}
CASE(work_halve_to_limit) {
  float x = 1e30f + ELEMENT;
  while (x > *(volatile float*)(bound + 3)) x *= 0.9999f;
  out[ELEMENT] = x;
}
CASE(work_collatz) {
  unsigned x = ELEMENT + 27, steps = 0;
  while (x != volatile_load(bound + 1)) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[ELEMENT] = steps;
}
CASE(work_countdown) {
  for (unsigned left = 64 * n; left != volatile_load(bound + 4); --left) {
  }
  out[ELEMENT] = 1;
}
