// Keeps a tool alive whose shared memory loses its file: touching a mapping beyond the end of its file raises SIGBUS.
#pragma once

#include <atomic>
#include <cstddef>

namespace wicprof {

/// From now on, when the mapping's file turns out to be truncated, the mapping becomes empty private memory in its
/// place, and `losses` is incremented. Installs a handler of SIGBUS, which passes other faults on: for the tool only,
/// never for the user's process. At most 512 mappings are guarded at a time; further ones are not.
void guard_mapping(void* memory, std::size_t bytes, std::atomic<unsigned>* losses = nullptr);
/// Call before the memory is unmapped.
void release_mapping(const void* memory);
/// In a child between fork() and exec(): handles SIGBUS as before the first guard. Async-signal-safe.
void restore_bus_errors() noexcept;
/// Whether the mapping lost its file. Any thread.
bool is_mapping_lost(const void* memory);

}  // namespace wicprof
