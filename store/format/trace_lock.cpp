#include "store/format/trace_lock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace wicprof::store {

namespace {

// These map flock() to locks on byte ranges, as SQLite's are.
constexpr unsigned kCifsMagic = 0xFF534D42;
constexpr unsigned kSmb2Magic = 0xFE534D42;

bool keeps_locks_apart(int file) {
  struct statfs info {};
  if (fstatfs(file, &info) != 0) return false;
  const auto type = static_cast<unsigned>(info.f_type);
  return type != NFS_SUPER_MAGIC && type != kCifsMagic && type != kSmb2Magic;
}

}  // namespace

TraceLock::TraceLock(int file) : file_(file) {
  if (keeps_locks_apart(file)) flock(file, LOCK_EX | LOCK_NB);
}

void TraceLock::release() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

bool TraceLock::is_held(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = keeps_locks_apart(file) && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return held;
}

}  // namespace wicprof::store
