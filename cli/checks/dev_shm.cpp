// The size of /dev/shm, where sessions live without XDG_RUNTIME_DIR.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cstdint>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct DevShm>(const Machine&) {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) {
    return {{"/dev/shm",
             CheckState::not_applicable,
             "does not exist; without XDG_RUNTIME_DIR, sessions live in /tmp",
             {},
             false}};
  }
  const auto mib = [&](std::uint64_t blocks) { return blocks * info.f_frsize >> 20; };
  return {{"/dev/shm",
           CheckState::ok,
           fmt::format("{} MiB, {} MiB free", mib(info.f_blocks), mib(info.f_bavail)),
           {},
           false}};
}

}  // namespace wicprof::cli
