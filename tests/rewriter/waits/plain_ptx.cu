// Loops and loads in inline PTX, in the forms that occur.
#include "common.h"

KERNEL wait_asm_loop(const unsigned* flag, unsigned want, float* out) {
  asm volatile(
      "{\n.reg .pred p;\n.reg .u32 v;\n"
      "SPIN_%=:\nld.acquire.gpu.global.u32 v, [%0];\nsetp.ne.u32 p, v, %1;\n@p bra SPIN_%=;\n}" ::"l"(flag),
      "r"(want)
      : "memory");
  out[threadIdx.x] += 1;
}
KERNEL wait_asm_loop_on_one_line(const unsigned* flag, float* out) {
  asm volatile(
      "{.reg .pred P1; .reg .b32 R1; LAB_WAIT: ld.relaxed.sys.global.b32 R1, [%0]; setp.ne.s32 P1, R1, 0; "
      "@P1 bra DONE; bra LAB_WAIT; DONE: }" ::"l"(flag)
      : "memory");
  out[threadIdx.x] += 1;
}
KERNEL wait_cache_volatile(const unsigned* flag, float* out) {
  while (__ldcv(flag) == 0) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_cache_global(const int* semaphore, int want, float* out) {
  while (load_cg(semaphore) < want) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_mmio(const unsigned* reg, float* out) {
  unsigned value;
  do {
    asm volatile("ld.mmio.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(reg) : "memory");
  } while ((value & 0x10) == 0);
  out[threadIdx.x] += 1;
}
KERNEL wait_or_with_zero(unsigned* flag, float* out) {
  while (atomicOr(flag, 0) == 0) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_max_with_zero(unsigned* flag, unsigned want, float* out) {
  while (atomicMax(flag, 0u) < want) __nanosleep(10);
  out[threadIdx.x] += 1;
}
KERNEL wait_cas_with_itself(u64* word, u64 want, float* out) {
  while (atomicCAS(word, want, want) != want) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_add_zero_of_double_word(u64* word, u64 want, float* out) {
  while (atomicAdd(word, 0ull) < want) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_pair_of_words(const ulonglong2* pair, u64 sequence, u64* out) {
  u64 data, flag;
  do {
    asm volatile("ld.volatile.global.v2.u64 {%0,%1}, [%2];" : "=l"(data), "=l"(flag) : "l"(pair) : "memory");
  } while (flag != sequence);
  out[threadIdx.x] = data;
}
KERNEL wait_fence_inside(const unsigned* flag, float* out) {
  while (*flag == 0) __threadfence();
  out[threadIdx.x] += 1;
}
KERNEL wait_system_fence_inside(const u64* flag, u64 want, float* out) {
  while (*(volatile const u64*)flag != want) __threadfence_system();
  out[threadIdx.x] += 1;
}
KERNEL wait_offset_in_address(const unsigned* base, float* out) {
  unsigned value;
  do {
    asm volatile("ld.acquire.sys.u32 %0, [%1+128];" : "=r"(value) : "l"(base) : "memory");
  } while (value != 7);
  out[threadIdx.x] += 1;
}
KERNEL work_asm_countdown(unsigned n, float* out) {
  unsigned left = n;
  asm volatile("{\n.reg .pred p;\nDOWN_%=:\nsub.u32 %0, %0, 1;\nsetp.ne.u32 p, %0, 0;\n@p bra DOWN_%=;\n}"
               : "+r"(left));
  out[threadIdx.x] = left;
}
KERNEL work_asm_copy(const unsigned* from, unsigned* to, unsigned n) {
  asm volatile(
      "{\n.reg .pred p;\n.reg .u32 v, i;\n.reg .u64 f, t;\nmov.u32 i, 0;\nmov.u64 f, %0;\nmov.u64 t, %1;\n"
      "COPY_%=:\nld.volatile.global.u32 v, [f];\nst.global.u32 [t], v;\nadd.u64 f, f, 4;\nadd.u64 t, t, 4;\n"
      "add.u32 i, i, 1;\nsetp.lt.u32 p, i, %2;\n@p bra COPY_%=;\n}" ::"l"(from),
      "l"(to), "r"(n)
      : "memory");
}
KERNEL work_asm_search(const unsigned* from, unsigned want, u64* found) {
  u64 at = (u64)from;
  asm volatile(
      "{\n.reg .pred p;\n.reg .u32 v;\nSEARCH_%=:\nld.relaxed.gpu.global.u32 v, [%0];\nadd.u64 %0, %0, 4;\n"
      "setp.ne.u32 p, v, %1;\n@p bra SEARCH_%=;\n}"
      : "+l"(at)
      : "r"(want)
      : "memory");
  *found = at;
}
KERNEL work_add_one_until(unsigned* counter, unsigned limit, unsigned* mine) {
  unsigned taken = 0;
  while (atomicAdd(counter, 1) < limit) ++taken;
  mine[threadIdx.x] = taken;
}
KERNEL work_wrap_counter(unsigned* counter, unsigned wrap, unsigned* turns) {
  unsigned count = 0;
  while (atomicInc(counter, wrap) != 0) ++count;
  turns[threadIdx.x] = count;
}
KERNEL work_take_bits(unsigned* bits, unsigned* out) {
  unsigned n = 0;
  unsigned seen;
  while ((seen = volatile_load(bits)) != 0) {
    const unsigned bit = seen & (0u - seen);
    if (atomicAnd(bits, ~bit) & bit) out[n++] = bit;
  }
}
KERNEL work_exchange_along(unsigned* slots, unsigned value, unsigned n) {
  for (unsigned i = 0; value != 0 && i < n; ++i) value = atomicExch(slots + i, value);
}
