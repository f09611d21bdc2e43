#include "cli/files/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/files/output_name.h"

namespace wicprof::cli {

namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Error exists(const std::string& path) {
  return bad_input(fmt::format("{} exists; choose another name with -o, or -f to overwrite it", path));
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<Output> prepare_output(const Output& output) {
  if (output.name == "-") return output;
  const Result<std::string> name = expand_output_name(output.name, getpid());
  if (!name) return name.error();
  struct stat info {};
  if (stat(name->c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return bad_input(fmt::format("{} is a folder; name a file in it with -o", *name));
    if (!output.overwrite) return exists(*name);
  }
  const std::string folder = folder_of(*name);
  if (access(folder.c_str(), W_OK) != 0) {
    return bad_input(fmt::format("cannot write {}: the folder {}: {}; choose another place with -o", *name, folder,
                                 std::strerror(errno)));
  }
  return Output{*name, output.overwrite};
}

Result<> write_output(const Output& prepared, std::string_view text) {
  if (prepared.name == "-") {
    std::fflush(stdout);
    if (!write_all(STDOUT_FILENO, text))
      return unavailable(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
    return ok();
  }
  // Writes a temporary file and renames it: a full disk neither destroys the old file nor leaves half a new one.
  const std::string partial = fmt::format("{}.{}.part", prepared.name, getpid());
  const int fd = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool written = fd >= 0 && write_all(fd, text);
  int failed = errno;
  if (fd >= 0 && close(fd) != 0 && written) {
    written = false;
    failed = errno;
  }
  if (written) {
    const int moved = prepared.overwrite ? rename(partial.c_str(), prepared.name.c_str())
                                         : link(partial.c_str(), prepared.name.c_str());
    failed = errno;
    if (moved != 0 && !prepared.overwrite && failed != EEXIST) {
      // The file system has no hard links.
      written = access(prepared.name.c_str(), F_OK) != 0 && rename(partial.c_str(), prepared.name.c_str()) == 0;
    } else {
      written = moved == 0;
    }
  }
  unlink(partial.c_str());
  if (written) return ok();
  if (failed == EEXIST) return exists(prepared.name);
  return unavailable(
      fmt::format("cannot write {}: {}; choose another place with -o", prepared.name, std::strerror(failed)));
}

}  // namespace wicprof::cli
