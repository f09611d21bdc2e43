#include "protocol/own_file.h"

#include <signal.h>

#include <climits>
#include <cstdio>  // rename
#include <utility>

namespace wicprof {

namespace {

constexpr int kPartNames = 100;  // a killed process may have left files with this process's number

std::string part_name(const std::string& path, int i) {
  return path + "." + std::to_string(getpid()) + (i == 0 ? "" : "." + std::to_string(i)) + ".part";
}

/// For this thread.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Result<std::string> behind_own_links(std::string path) {
  constexpr int kMostLinks = 40;  // the system's own limit
  const std::string named = path;
  for (int i = 0; i <= kMostLinks; ++i) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
    if (!is_own_or_roots(info)) {
      return bad_input(path + " is a link of another user, who chooses where it leads; remove it, or choose another " +
                       "place with -o");
    }
    char target[PATH_MAX];
    const ssize_t bytes = readlink(path.c_str(), target, sizeof target);
    if (bytes <= 0) return path;
    const std::string next(target, static_cast<std::size_t>(bytes));
    const std::size_t slash = path.rfind('/');
    path = next[0] == '/' || slash == std::string::npos ? next : path.substr(0, slash + 1) + next;
  }
  return bad_input(named + " is a link to itself; choose another place with -o");
}

NewFile::NewFile(std::string path) : path_(std::move(path)) {
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  file_ = ::access("/proc/self/fd", X_OK) == 0 ? ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666) : -1;
  for (int i = 0; file_ < 0 && i < kPartNames; ++i) {
    part_ = part_name(path_, i);
    file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST) break;
  }
}

NewFile::~NewFile() {
  if (file_ < 0) return;
  if (!part_.empty()) ::unlink(part_.c_str());
  ::close(file_);
}

int NewFile::link_to(const std::string& name) const {
  const std::string own = "/proc/self/fd/" + std::to_string(file_);
  return ::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int NewFile::move_to_path() const { return ::rename(part_.c_str(), path_.c_str()) == 0 ? 0 : errno; }

int NewFile::take_name(bool replaces) {
  // A network's file system tells at the close that there is no room.
  if (const int copy = ::dup(file_); copy < 0 || ::close(copy) != 0) return errno;
  const NoSignals none;  // one that ends the process would leave the file with two names
  if (!part_.empty()) {
    if (replaces) return move_to_path();
    if (::link(part_.c_str(), path_.c_str()) == 0) return 0;
    // Without hard links.
    return errno == EEXIST || ::access(path_.c_str(), F_OK) == 0 ? EEXIST : move_to_path();
  }
  if (!replaces) return link_to(path_);
  int error = EEXIST;
  for (int i = 0; error == EEXIST && i < kPartNames; ++i) error = link_to(part_ = part_name(path_, i));
  if (error != 0) part_.clear();
  return error == 0 ? move_to_path() : error;
}

std::size_t read_bytes(int file, void* to, std::size_t most) {
  std::size_t got = 0;
  while (got < most) {
    const ssize_t read = ::read(file, static_cast<char*>(to) + got, most - got);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;
    got += static_cast<std::size_t>(read);
  }
  return got;
}

int write_bytes(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written == 0 ? ENOSPC : errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int replace_with(const std::string& path, std::string_view bytes) {
  NewFile file(path);
  if (file.descriptor() < 0) return errno;
  const int error = write_bytes(file.descriptor(), bytes);
  return error != 0 ? error : file.take_name(true);
}

}  // namespace wicprof
