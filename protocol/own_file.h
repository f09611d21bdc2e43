// Files under names that others can take first: a process opens them although its user did not name them, such as
// entries of a cache and the companions of a trace, or writes them in a folder that it shares. Somebody else may have
// put a FIFO, a device, a link or contents of his own there.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof {

/// Whether nobody but the process's user, and the superuser, could have written the file.
inline bool is_own(const struct stat& info) {
  return info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

inline bool is_own_or_roots(const struct stat& info) { return info.st_uid == geteuid() || info.st_uid == 0; }

/// Whether a file that lies beside `main` comes from somebody whom its reader trusts: he named `main`.
inline bool is_companion(const struct stat& info, const std::string& main) {
  struct stat of_main {};
  return is_own_or_roots(info) || (::stat(main.c_str(), &of_main) == 0 && of_main.st_uid == info.st_uid);
}

/// Opens a regular file for reading. Follows no link and waits for nobody. -1: errno.
inline int open_regular(const std::string& path, struct stat& info) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return -1;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode)) return file;
  ::close(file);
  errno = EINVAL;
  return -1;
}

/// Whether others than the process's user and the superuser can put a folder of their own in the place of one in
/// `folder`.
inline bool is_safe_parent(const struct stat& folder) {
  return S_ISDIR(folder.st_mode) && is_own_or_roots(folder) &&
         ((folder.st_mode & S_IWOTH) == 0 || (folder.st_mode & S_ISVTX) != 0);
}

/// The bytes of an open file, which is closed. Empty: it cannot be read.
inline std::string take_bytes(int file) {
  std::string bytes;
  char piece[1 << 14];
  ssize_t read = 0;
  while ((read = ::read(file, piece, sizeof piece)) > 0 || (read < 0 && errno == EINTR)) {
    if (read > 0) bytes.append(piece, static_cast<std::size_t>(read));
  }
  ::close(file);
  return read == 0 ? bytes : std::string();
}

/// The path that the links of a name lead to; folders on the way are left to the system. Error: a link of somebody
/// else, who would choose what the process writes to with its own rights.
Result<std::string> behind_own_links(std::string path);

/// A file that is written before it gets its name, so that nobody reads half of it. Where the file system has files
/// without names, a process that is killed leaves nothing; elsewhere it may leave PATH.PID.part.
class NewFile {
 public:
  explicit NewFile(std::string path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// -1: it could not be made, for the reason in errno.
  int descriptor() const { return file_; }

  /// Gives the file its name. With `replaces`, in the place of what has the name, of which a link is replaced, too.
  /// Returns 0 or errno: EEXIST where the name is taken, and what writing the bytes met only now.
  int take_name(bool replaces);

 private:
  int link_to(const std::string& name) const;
  int move_to_path() const;

  std::string path_, part_;  // part_: its name until it gets its own; empty: it has none
  int file_;
};

/// Reads from where the file stands, up to `most` bytes. Less than that: the file ends there, or cannot be read.
std::size_t read_bytes(int file, void* to, std::size_t most);

/// Writes all of the bytes. Returns 0 or errno.
int write_bytes(int file, std::string_view bytes);

/// A file with these bytes in the place of `path`, of which a link is replaced, too; or `path` stays as it is. Returns
/// 0 or errno.
int replace_with(const std::string& path, std::string_view bytes);

}  // namespace wicprof
