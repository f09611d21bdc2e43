#include "protocol/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace wicprof {

namespace {

struct Guarded {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> bytes{0};  // 0 = free
  std::atomic<bool> lost{false};
  std::atomic<std::atomic<unsigned>*> losses{nullptr};
};
// Read by the handler.
std::array<Guarded, 512> mappings;
struct sigaction previous {};
std::atomic<bool> installed{false};

Guarded* mapping_of(std::uintptr_t address) {
  for (Guarded& mapping : mappings) {
    const std::uintptr_t begin = mapping.begin.load(std::memory_order_acquire);
    if (address >= begin && address - begin < mapping.bytes.load(std::memory_order_acquire)) return &mapping;
  }
  return nullptr;
}

void take_bus_error(int, siginfo_t* info, void*) {
  const int error = errno;
  Guarded* mapping = mapping_of(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if (mapping != nullptr) {
    const bool again = mapping->lost.exchange(true, std::memory_order_acq_rel);
    std::atomic<unsigned>* const losses = mapping->losses.load(std::memory_order_relaxed);
    if (!again && losses != nullptr) losses->fetch_add(1, std::memory_order_release);
    void* const memory = reinterpret_cast<void*>(mapping->begin.load(std::memory_order_relaxed));
    void* const made = mmap(memory, mapping->bytes.load(std::memory_order_relaxed), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (made != MAP_FAILED) {
      errno = error;
      return;  // the access is tried again
    }
  }
  sigaction(SIGBUS, &previous, nullptr);  // the access is tried again, and ends the process as without this handler
  if (info->si_code <= 0) raise(SIGBUS);  // no access: somebody sent the signal
  errno = error;
}

}  // namespace

void guard_mapping(void* memory, std::size_t bytes, std::atomic<unsigned>* losses) {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = take_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    installed.store(sigaction(SIGBUS, &action, &previous) == 0, std::memory_order_release);
  });
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (Guarded& mapping : mappings) {
    if (mapping.bytes.load(std::memory_order_relaxed) != 0) continue;
    mapping.lost.store(false, std::memory_order_relaxed);
    mapping.losses.store(losses, std::memory_order_relaxed);
    mapping.begin.store(reinterpret_cast<std::uintptr_t>(memory), std::memory_order_release);
    mapping.bytes.store(bytes, std::memory_order_release);
    return;
  }
}

void release_mapping(const void* memory) {
  if (Guarded* mapping = mapping_of(reinterpret_cast<std::uintptr_t>(memory))) {
    mapping->bytes.store(0, std::memory_order_release);
  }
}

void restore_bus_errors() noexcept {
  if (installed.load(std::memory_order_acquire)) sigaction(SIGBUS, &previous, nullptr);
}

bool is_mapping_lost(const void* memory) {
  const Guarded* mapping = mapping_of(reinterpret_cast<std::uintptr_t>(memory));
  return mapping != nullptr && mapping->lost.load(std::memory_order_acquire);
}

}  // namespace wicprof
