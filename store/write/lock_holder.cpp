#include "store/write/lock_holder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "protocol/process.h"

namespace wicprof::store {

namespace {

std::uint64_t file_number(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

}  // namespace

std::string lock_holder(const std::string& path, LockKind wanted) {
  const std::uint64_t trace = file_number(path), index = file_number(path + "-shm");
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "1: POSIX  ADVISORY  WRITE 12 08:01:4711 120 120"; a waiting process has "->" behind the number.
    std::istringstream words(line);
    std::string number, kind, how, what, place;
    long pid = 0;
    if (!(words >> number >> kind >> how >> what >> pid >> place) || kind == "FLOCK") continue;
    if (what != "WRITE" && (what != "READ" || wanted == LockKind::writers)) continue;
    const std::uint64_t file = std::strtoull(place.c_str() + place.rfind(':') + 1, nullptr, 10);
    if (file == 0 || (file != trace && file != index) || pid == getpid()) continue;
    if (pid <= 0) return "another process";
    const std::string name = executable_name_of(static_cast<std::uint32_t>(pid));
    return (name.empty() ? "a process" : name) + " (process " + std::to_string(pid) + ")";
  }
  return {};
}

}  // namespace wicprof::store
