// The new thread of another process that loads a library there. Until wic-prof gives it work, and where wic-prof goes
// away, it calls getppid() and ends.
//
//   dladdr() -> _IO_list_lock() -> dlopen() -> _IO_list_unlock() -> InitializeInjection()
//
// A child that fork() makes has the loader as it is at that moment, so no thread may be in fork() while the library is
// loaded. fork() of glibc holds the lock of the list of files while the system copies the process; so does the new
// thread while it loads. From the lock on, the thread goes that way by itself, wherever wic-prof goes away. A thread
// that opens a file in a constructor of a library holds the loader's lock and wants that of the list: dladdr() waits
// until no thread is in the loader, and what begins to load in the instant after that gets the list's lock in the end
// (release()).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/join/c_library.h"
#include "cli/join/called_thread.h"
#include "protocol/result.h"

#if defined(__x86_64__)

namespace wicprof::cli {

class LoadingThread {
 public:
  /// `created`: stopped, or about to, before its first instruction, and traced by this thread.
  LoadingThread(pid_t created, const CLibrary& c, std::string library, std::string start);

  /// Loads the library and calls its function `start`. nullopt: not in time. Once there is a result, the thread is no
  /// longer traced.
  std::optional<Result<>> work(AddressSpace& memory, TimeNs until);

 private:
  enum class Step : std::uint8_t { begins, waits, locks, loads, explains, starts };

  bool call(AddressSpace& memory, std::uint64_t function, std::uint64_t first, std::uint64_t second,
            std::uint64_t back_to);
  /// Nothing: the next step has begun.
  std::optional<Result<>> next(AddressSpace& memory);
  bool load(AddressSpace& memory);
  std::optional<Result<>> start(AddressSpace& memory);
  void release(AddressSpace& memory);

  CalledThread thread_;
  const CLibrary& c_;
  const std::string library_, start_;
  Step step_ = Step::begins;
  std::uint64_t stack_ = 0;     // its pointer in the landing that the thread began with
  std::uint64_t expected_ = 0;  // the same, once the step is done
  std::uint64_t text_ = 0;      // the far end of its stack, which is behind a guard of its own
  TimeNs locked_until_ = 0;     // no fork() waits longer; 0: the lock is free
};

}  // namespace wicprof::cli
#endif
