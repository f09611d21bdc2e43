// Messages whose data and flag are in one load, and copies.
#include "cases.h"

CASE(wait_data_and_flag) {
  const volatile u64* place = (const volatile u64*)WORD(0);
  u64 value;
  do value = *place;
  while ((unsigned)(value >> 32) != want);
  out[ELEMENT] = (unsigned)value;
}
CASE(wait_two_pairs) {
  unsigned data1, flag1, data2, flag2;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(data1), "=r"(flag1), "=r"(data2), "=r"(flag2)
                 : "l"(WORD(0)));
  } while (flag1 != want || flag2 != want);
  out[ELEMENT] = data1 + data2;
}
CASE(wait_line_with_vote) {
  const u64* place = (const u64*)WORD(0) + (threadIdx.x & 15);
  u64 value;
  bool all;
  do {
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(place));
    all = __all_sync(0xffffffff, (unsigned)value != 0);
  } while (!all);
  out[ELEMENT] = value;
}
CASE(wait_toggle_bit) {
  while ((volatile_load(WORD(0)) & 1) != (want & 1)) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_byte) {
  while (*(const volatile unsigned char*)WORD(0) == 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
// Steps as in NCCL: a 64-bit counter, and an abort flag that is read seldom.
CASE(wait_step_counter) {
  const volatile u64* step = (const volatile u64*)WORD(0);
  const u64 wanted = (u64)want << 32 | want;
  unsigned spins = 0;
  bool aborted = false;
  while (!aborted && *step < wanted) {
    if (++spins == 10000) {
      aborted = volatile_load(bound + 5) != 0;
      spins = 0;
    }
  }
  out[ELEMENT] = spins;
}
CASE(work_volatile_copy) {
  for (unsigned i = 0; i < n; ++i) {
    const unsigned at = (ELEMENT + 8192 * i) % kElements;
    *(volatile float*)&out[at] = *(volatile float*)&data[at];
  }
}
CASE(work_vector_sum) {
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    const float4 x = ((const float4*)data)[(ELEMENT + 8192 * i) % (kElements / 4)];
    sum += x.x + x.y + x.z + x.w;
  }
  out[ELEMENT] = sum;
}
CASE(work_drains_ring) {
  float sum = 0;
  unsigned at = ELEMENT % 64;
  const unsigned end = at + 64 * n;
  while (at < end) sum += *(volatile float*)&data[at++ % 4096];
  out[ELEMENT] = sum;
}
CASE(work_checksum) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    sum = (sum << 5 | sum >> 27) ^ volatile_load((unsigned*)index + (ELEMENT + 4096 * i) % kElements);
  }
  out[ELEMENT] = sum;
}
