// Loops that write: a sign of life while they wait, or results until they are told to stop.
#include "cases.h"

CASE(wait_counts_polls_in_memory) {
  unsigned polls = 0;
  while (volatile_load(WORD(0)) != want) volatile_store((unsigned*)out + ELEMENT, ++polls);
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_writes_time) {
  while (load_acquire(WORD(0)) == 0) *(volatile u64*)((u64*)out + blockIdx.x) = global_time();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_counts_by_atomic) {
  if (threadIdx.x == 0) {
    while (volatile_load(WORD(0)) == 0) atomicAdd((unsigned*)out + blockIdx.x, 1);
  }
  __syncthreads();
  out[ELEMENT + blockDim.x] = data[ELEMENT];
}
CASE(wait_heartbeat_seldom) {
  unsigned polls = 0;
  while (volatile_load(WORD(0)) != want) {
    if ((++polls & 1023) == 0) volatile_store((unsigned*)out + ELEMENT, polls);
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_heartbeat_and_sleep) {
  unsigned polls = 0;
  while (load_acquire(WORD(0)) < want) {
    volatile_store((unsigned*)out + ELEMENT, ++polls);
    __nanosleep(100);
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_writes_until_stop) {
  float x = data[ELEMENT];
  for (unsigned i = 0; volatile_load(bound + 5) == 0 && i < 64 * n; ++i) {
    x = x * 0.999f + 0.1f;
    out[(ELEMENT + i * 8192) % kElements] = x;
  }
}
CASE(work_fills) {
  for (unsigned i = 0; i < volatile_load(bound); ++i) out[(ELEMENT + i * 8192) % kElements] = i;
}
CASE(work_writes_progress) {
  float sum = 0;
  for (unsigned i = 0; i < 16 * n; ++i) {
    sum += data[(ELEMENT + i * 4096) % kElements];
    if ((i & 15) == 0) volatile_store(WORD(1), i);
  }
  out[ELEMENT] = sum;
}
CASE(work_accumulates_in_memory) {
  volatile float* place = out + ELEMENT;
  for (unsigned i = 0; i < volatile_load(bound); ++i) *place = *place + 1;
}
