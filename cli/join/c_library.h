// The C library (glibc) of another process: where the functions are that the process is to call.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/stacks/mapped_object.h"
#include "protocol/result.h"

namespace wicprof::cli {

struct CLibrary {
  std::uint64_t create_thread = 0;     ///< pthread_create()
  std::uint64_t open_library = 0;      ///< dlopen()
  std::uint64_t load_error = 0;        ///< dlerror()
  std::uint64_t describe_address = 0;  ///< dladdr(): takes the loader's lock, and changes nothing
  std::uint64_t lock_files = 0;        ///< _IO_list_lock(), which fork() calls, too; a thread may call it again
  std::uint64_t unlock_files = 0;      ///< _IO_list_unlock()
  /// getppid(): one call of the system that changes nothing. Where a call that the process is to make returns to it,
  /// its tracer gets the thread back, and a thread without a tracer goes on.
  std::uint64_t landing = 0;
  /// In the landing, where RAX has the number of the call: the tracer finds there what a function has returned, and
  /// puts the number in its place. For functions that return pointers, which are no numbers of calls.
  std::uint64_t landing_call = 0;
  std::uint64_t signal_return = 0;  ///< mov $15, %rax; syscall: ends a signal's handler
  /// Its fork() calls lock_files, as it does in glibc 2.28 to 2.42 (read in its sources).
  bool fork_locks_files = false;
  std::int64_t errno_offset = 0;  ///< from a thread's pointer (FS)

  std::vector<CodeRange> not_within;  ///< functions of the library that may hold a lock that those above take
  std::vector<CodeRange> of_mutex;    ///< in which a thread sleeps for a lock of the program
};

/// Error: the process has no C library that can be used, or several.
Result<CLibrary> find_c_library(AddressSpace& memory);

/// Whether a file is a part of the C library: "libc.so.6", "libpthread.so.0".
bool is_c_library(const Mapping& mapping);
bool is_loader(const Mapping& mapping);

}  // namespace wicprof::cli
