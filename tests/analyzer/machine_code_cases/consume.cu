// Polls by atomic operations.
#include "cases.h"

CASE(wait_add_zero) {
  while (atomicAdd(WORD(0), 0) == 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_cas_same) {
  while (atomicCAS(WORD(0), 7, 7) != want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_or_zero) {
  while ((atomicOr(WORD(0), 0) & 1) == 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_max_zero_leader) {
  if (threadIdx.x == 0) {
    while (atomicMax(WORD(0), 0) < want) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_exchange_token) {
  if (threadIdx.x == 0) {
    while (atomicExch(WORD(0), 0) == 0) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_cas_token) {
  if (threadIdx.x == 0) {
    while (atomicCAS(WORD(0), want, 0) != want) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_grabs_items) {
  float sum = 0;
  for (unsigned i = atomicAdd(WORD(1), 1); i < 64 * n; i = atomicAdd(WORD(1), 1)) sum += data[(i * 64) % kElements];
  out[ELEMENT] = sum;
}
CASE(work_grabs_empty_items) {
  unsigned count = 0;
  while (atomicAdd(WORD(1), 1) < 64 * n) ++count;
  out[ELEMENT] = count;
}
CASE(work_float_max) {
  for (unsigned i = 0; i < n; ++i) {
    const float x = data[(ELEMENT + i * 512) % kElements];
    int* place = (int*)WORD(2);
    int old = *place;
    while (__int_as_float(old) < x) {
      const int seen = atomicCAS(place, old, __float_as_int(x));
      if (seen == old) break;
      old = seen;
    }
  }
}
CASE(work_histogram) {
  for (unsigned i = 0; i < n; ++i) atomicAdd(WORD(index[(ELEMENT + i * 512) % kElements] & 15), 1);
}
