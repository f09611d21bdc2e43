// The bytes of a file.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "protocol/own_file.h"

namespace wicprof::collector {

/// Of a file that the program names. Empty: there is no such file, or nothing in it.
inline std::string file_bytes(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

/// Of a regular file that `trusted` accepts, since what is read becomes the program's code. Empty: as above.
inline std::string trusted_bytes(const std::filesystem::path& path, bool (*trusted)(const struct stat&)) {
  struct stat info {};
  const int file = open_regular(path.string(), info);
  if (file < 0) return {};
  if (trusted(info)) return take_bytes(file);
  ::close(file);
  return {};
}

}  // namespace wicprof::collector
