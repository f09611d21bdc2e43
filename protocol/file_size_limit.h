// The largest file that this process may write (ulimit -f).
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

namespace wicprof {

/// In bytes; empty without a limit.
inline std::optional<std::uint64_t> file_size_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace wicprof
