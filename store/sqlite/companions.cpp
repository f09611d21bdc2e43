#include "store/sqlite/companions.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>  // realpath
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "protocol/own_file.h"

namespace wicprof::store {

namespace {

/// The length of the trace's name in that of a companion; 0: it is none.
std::size_t trace_name_in(std::string_view path) {
  for (const std::string_view companion : kCompanions) {
    if (path.ends_with(companion)) return path.size() - companion.size();
  }
  return 0;
}

int open_for_sqlite(const char* path, int flags, int mode) {
  const std::size_t length = trace_name_in(path);
  if (length == 0) return ::open(path, flags, mode);
  const int file = ::open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
  struct stat info {};
  if (file < 0 || (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && is_companion(info, std::string(path, length))))
    return file;
  ::close(file);
  errno = EPERM;
  return -1;
}

}  // namespace

void guard_companions() {
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  if (system == nullptr || system->iVersion < 3) return;
  system->xSetSystemCall(system, "open", reinterpret_cast<sqlite3_syscall_ptr>(open_for_sqlite));
}

std::string in_the_way_of(const std::string& trace) {
  // As SQLite, which looks beside the file that a link leads to.
  const std::unique_ptr<char, decltype(&free)> behind(realpath(trace.c_str(), nullptr), &free);
  const std::string path = behind != nullptr ? behind.get() : trace;
  for (const char* const companion : kCompanions) {
    const std::string name = path + companion;
    struct stat info {};
    if (lstat(name.c_str(), &info) != 0) continue;
    const char* const what = S_ISLNK(info.st_mode)    ? " is a link"
                             : S_ISDIR(info.st_mode)  ? " is a folder"
                             : S_ISFIFO(info.st_mode) ? " is a pipe"
                             : !S_ISREG(info.st_mode) ? " is no file"
                                                      : " belongs to another user";
    if (!S_ISREG(info.st_mode) || !is_companion(info, path)) return trace + companion + what;
  }
  return {};
}

}  // namespace wicprof::store
