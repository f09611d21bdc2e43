// Free memory for the rings of a session.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct SharedMemory>(const Machine& machine) {
  if (!machine.session_folder) return {};
  constexpr std::uint64_t kDefaultBufferMib = 128;  // run's default for --buffer-size
  const std::string& folder = *machine.session_folder;
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) {
    return {{"shared memory", CheckState::missing, "cannot query the file system of " + folder,
             "set XDG_RUNTIME_DIR to a folder that belongs to you", true}};
  }
  const std::uint64_t free_mib = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize >> 20;
  Check check{"shared memory", CheckState::ok, fmt::format("{} MiB free in {}", free_mib, folder), {}, true};
  if (free_mib < kDefaultBufferMib + 1) {
    check.state = CheckState::missing;
    check.cure = fmt::format("free some space, enlarge that file system, or use run with --buffer-size below {}",
                             std::max<std::uint64_t>(free_mib, 1));
  }
  return {check};
}

}  // namespace wicprof::cli
