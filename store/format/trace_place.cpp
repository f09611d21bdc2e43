#include "store/format/trace_place.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "store/format/trace_file.h"

namespace wicprof::store {

namespace {

constexpr int kTries = 100;  // names beside the trace's own

std::string link_of(int file) {
  char name[PATH_MAX];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof name);
  return length > 0 && length < PATH_MAX ? std::string(name, static_cast<std::size_t>(length)) : std::string();
}

// t.recovered.wicprof for t.wicprof.
std::string beside(const std::string& path, int number) {
  const std::size_t dot = path.rfind('.'), slash = path.rfind('/');
  const bool has_dot = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::string word = number == 1 ? ".recovered" : ".recovered." + std::to_string(number);
  return has_dot ? path.substr(0, dot) + word + path.substr(dot) : path + word;
}

bool copy(int from, int to) {
  std::vector<char> piece(1 << 20);
  off_t at = 0;
  for (;;) {
    const ssize_t n = pread(from, piece.data(), piece.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    for (ssize_t done = 0; done < n;) {
      const ssize_t written = pwrite(to, piece.data() + done, static_cast<std::size_t>(n - done), at + done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      done += written;
    }
    at += n;
  }
}

}  // namespace

TracePlace::Identity TracePlace::identity_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? Identity{info.st_dev, info.st_ino} : Identity{};
}

TracePlace::TracePlace(std::string path, int file) : path_(std::move(path)), file_(file) { look(); }

// SQLite does not shorten a log before it is folded. Where the log has another name by now, nobody can say.
bool TracePlace::is_log_cut() {
  struct stat info {};
  const bool exists = stat(wal_of(path_).c_str(), &info) == 0;
  if (exists && log_ == Identity()) log_ = {info.st_dev, info.st_ino};
  if (index_ == Identity()) index_ = identity_of(path_ + "-shm");
  if (shrinks_ || !exists || log_ != Identity{info.st_dev, info.st_ino}) return false;
  if (info.st_size < largest_log_) return true;
  largest_log_ = info.st_size;
  return false;
}

Place TracePlace::look() {
  struct stat own {};
  if (fstat(file_, &own) != 0) return Place::there;
  // Nobody but SQLite's VACUUM shortens a trace, and that at its very end.
  emptied_ = emptied_ || (own.st_size < largest_ && !shrinks_);
  largest_ = std::max(largest_, own.st_size);
  if (emptied_) return Place::emptied;
  struct stat named {};
  const bool is_named = stat(path_.c_str(), &named) == 0;
  if (!is_named && errno != ENOENT && errno != ENOTDIR) return Place::there;  // who knows
  if (is_named && named.st_dev == own.st_dev && named.st_ino == own.st_ino)
    return is_log_cut() ? Place::log_cut : Place::there;
  // Some file systems number a file anew: what counts is whether the system still knows it under a name.
  const std::string link = link_of(file_);
  struct stat linked {};
  if (!link.empty() && stat(link.c_str(), &linked) == 0) {
    const bool same_name = is_named && linked.st_dev == named.st_dev && linked.st_ino == named.st_ino;
    if (same_name) return Place::there;
    if (linked.st_dev == own.st_dev && linked.st_ino == own.st_ino) return Place::moved;
  }
  return is_named ? Place::replaced : Place::removed;
}

void TracePlace::remove_log_names() const {
  for (const auto& [name, own] : {std::pair(wal_of(path_), log_), {path_ + "-shm", index_}}) {
    if (own != Identity() && identity_of(name) == own) unlink(name.c_str());
  }
}

std::string TracePlace::name_now() const { return link_of(file_); }

Result<std::string> TracePlace::write_again() const {
  int to = -1;
  std::string name = path_;
  for (int i = 0; to < 0 && i <= kTries; ++i) {
    name = i == 0 ? path_ : beside(path_, i);
    to = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kTraceMode);
    if (to < 0 && errno != EEXIST) break;
  }
  if (to < 0) return unavailable("cannot create " + name + ": " + std::strerror(errno));
  // As a file that has left WAL mode (the SQLite file format, section 1.3.3): its log is folded.
  constexpr char kNoLog[] = {1, 1};
  const bool copied = copy(file_, to) && pwrite(to, kNoLog, sizeof kNoLog, 18) == sizeof kNoLog;
  const int error = errno;
  ::close(to);
  if (copied) return name;
  unlink(name.c_str());
  return unavailable("cannot write " + name + ": " + std::strerror(error));
}

}  // namespace wicprof::store
