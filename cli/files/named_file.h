// What is wrong with a name on the command line that should be a file.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace wicprof::cli {

/// "a.toml does not exist", "a.toml is a folder", "a.toml: Permission denied"; empty: it is something that can be read.
inline std::string why_no_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return S_ISDIR(info.st_mode) ? path + " is a folder" : std::string();
  return errno == ENOENT ? path + " does not exist" : path + ": " + std::strerror(errno);
}

}  // namespace wicprof::cli
