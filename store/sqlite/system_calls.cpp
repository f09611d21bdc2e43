#include "store/sqlite/system_calls.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "protocol/mapping_guard.h"

namespace wicprof::store {

namespace {

std::atomic<unsigned> losses{0};
std::atomic<bool> locks_fail{false};  // for another reason than that somebody has them
int (*original_sleep)(sqlite3_vfs*, int) = nullptr;

void* map_for_sqlite(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  void* const memory = mmap(address, bytes, protection, flags, file, offset);
  if (memory != MAP_FAILED) guard_mapping(memory, bytes, &losses);
  return memory;
}

int unmap_for_sqlite(void* memory, size_t bytes) {
  release_mapping(memory);
  return munmap(memory, bytes);
}

int lock_for_sqlite(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);  // a number, or a pointer
  va_end(list);
  constexpr int kTries = 5;
  if (command != F_SETLK) return fcntl(file, command, argument);
  int result = -1;
  bool is_taken = false;
  for (int i = 0; i < kTries && result < 0 && !is_taken; ++i) {
    result = fcntl(file, command, argument);
    is_taken = result < 0 && (errno == EAGAIN || errno == EACCES);
  }
  locks_fail.store(result < 0 && !is_taken, std::memory_order_relaxed);
  return result;
}

// SQLite waits up to ten seconds for locks that nobody gives back.
int sleep_for_sqlite(sqlite3_vfs* system, int microseconds) {
  constexpr int kShortest = 1000;
  return original_sleep(system,
                        locks_fail.load(std::memory_order_relaxed) ? std::min(microseconds, kShortest) : microseconds);
}

}  // namespace

void guard_system_calls() {
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  if (system == nullptr || system->iVersion < 3) return;
  original_sleep = system->xSleep;
  system->xSleep = sleep_for_sqlite;
  system->xSetSystemCall(system, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(lock_for_sqlite));
  system->xSetSystemCall(system, "mmap", reinterpret_cast<sqlite3_syscall_ptr>(map_for_sqlite));
  system->xSetSystemCall(system, "munmap", reinterpret_cast<sqlite3_syscall_ptr>(unmap_for_sqlite));
}

unsigned lost_indexes() { return losses.load(std::memory_order_acquire); }

}  // namespace wicprof::store
