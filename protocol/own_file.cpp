#include "protocol/own_file.h"

#include <climits>
#include <cstdio>  // rename

namespace wicprof {

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

int make_part(const std::string& path, std::string& part) {
  constexpr int kTries = 100;  // a killed process may have left files with this process's number
  for (int i = 0; i < kTries; ++i) {
    part = path + "." + std::to_string(getpid()) + (i == 0 ? "" : "." + std::to_string(i)) + ".part";
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
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
  std::string part;
  const int file = make_part(path, part);
  if (file < 0) return errno;
  int error = write_bytes(file, bytes);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(part.c_str());
  return error;
}

}  // namespace wicprof
