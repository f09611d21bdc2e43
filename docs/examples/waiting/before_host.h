// Typical host threads that poll and release: the "before" of docs/waiting.md.
#pragma once

#include <atomic>
#include <cstdint>

// [host]
inline void wait_for_result(const volatile std::uint32_t* done, std::uint32_t round) {
  while (*done < round) {
  }
  std::atomic_thread_fence(std::memory_order_acquire);
}

inline void publish(volatile std::uint32_t* flag, std::uint32_t round) {
  std::atomic_thread_fence(std::memory_order_release);
  *flag = round;
}
// [end]
