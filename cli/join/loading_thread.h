// The new thread of another process that loads a library there. Until wic-prof gives it work, and where wic-prof goes
// away, it calls getppid() and ends.
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

  /// Loads the library and calls its function `start`. nullopt: not yet; call again. Once there is a result, the thread
  /// is no longer traced.
  std::optional<Result<>> work(AddressSpace& memory, TimeNs until);

 private:
  enum class Step : std::uint8_t { created, begins, loads, starts };

  bool call(AddressSpace& memory, std::uint64_t function, std::uint64_t first, std::uint64_t second);
  Result<> load(AddressSpace& memory);
  Result<> start(AddressSpace& memory);

  CalledThread thread_;
  const CLibrary& c_;
  const std::string library_, start_;
  Step step_ = Step::created;
  std::uint64_t stack_ = 0;  // its pointer in the landing
};

}  // namespace wicprof::cli
#endif
