// A thread that asks again and again.
#pragma once

namespace wicprof::collector {

/// For about a microsecond: each question takes a lock that other threads need, too.
inline void pause_briefly() {
  for (int i = 0; i < 32; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
}

}  // namespace wicprof::collector
