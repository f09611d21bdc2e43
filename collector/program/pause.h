// A thread that asks again and again.
#pragma once

namespace wicprof::collector {

/// For two or three microseconds: each question takes a lock of the driver, which threads that ask without a pause keep
/// others from getting.
inline void pause_briefly() {
  for (int i = 0; i < 64; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
}

}  // namespace wicprof::collector
