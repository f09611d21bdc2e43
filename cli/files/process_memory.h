// How a process that reads traces takes memory from the system. The options are malloc's, for the whole process.
#pragma once

#include <malloc.h>

namespace wicprof::cli {

/// For a process that analyses traces; call it before the first trace is read. The analysis of a large trace
/// allocates and frees long lists one after another. With one heap for all threads, and freed memory kept in it, the
/// next list reuses the pages of the last one, which the system would otherwise have to clear again.
inline void keep_freed_memory() {
  constexpr int kHeaps = 1;
  constexpr int kMmapThreshold = 32 << 20;  // the largest value that glibc accepts: only larger lists use mmap
  constexpr int kTrimThreshold = 1 << 30;  // of free memory at the heap's end, before any of it goes back to the system
  mallopt(M_ARENA_MAX, kHeaps);
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
}

/// For a window that shows a growing trace; call it before the first picture. Successive pictures have about the same
/// size. Returning their memory to the system in between costs one page fault per page, and page faults serialise the
/// threads of the process.
inline void keep_picture_memory() {
  constexpr int kMmapThreshold = 32 << 20;  // the largest value that glibc accepts
  constexpr int kTrimThreshold = 16 << 20;  // not calibrated
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  mallopt(M_TRIM_THRESHOLD, kTrimThreshold);
}

}  // namespace wicprof::cli
