// Fences in loops.
#include "cases.h"

CASE(wait_threadfence) {
  while (volatile_load(WORD(0)) == 0) __threadfence();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_threadfence_system) {
  while (volatile_load(WORD(0)) == 0) __threadfence_system();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_plain_load) {
  while (*WORD(0) == 0) __threadfence();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_block_fence) {
  while (volatile_load(WORD(0)) != want) __threadfence_block();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_plain_load_leader) {
  if (threadIdx.x == 0) {
    while (*WORD(0) < want) __threadfence();
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_publishes) {
  for (unsigned i = 0; i < n; ++i) {
    out[(ELEMENT + 512 * i) % kElements] = data[(ELEMENT + i) % kElements];
    __threadfence();
    volatile_store(WORD(1), i);
  }
}
CASE(work_fenced_sum) {
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    sum += data[(ELEMENT + 512 * i) % kElements];
    __threadfence_block();
  }
  out[ELEMENT] = sum;
}
CASE(work_fenced_bound) {
  unsigned x = ELEMENT;
  for (unsigned i = 0; i < *bound; ++i) {
    x += i;
    __threadfence();
  }
  out[ELEMENT] = x;
}
