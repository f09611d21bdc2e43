#include "cli/record/find_program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "protocol/shell_words.h"

namespace wicprof::cli {

namespace {
bool is_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}
}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    struct stat info {};
    if (stat(name.c_str(), &info) != 0) {
      return bad_input(fmt::format("cannot start {}: {}; check the path", name, std::strerror(errno)));
    }
    if (!S_ISREG(info.st_mode)) return bad_input(fmt::format("cannot start {}: it is not a regular file", name));
    if (access(name.c_str(), X_OK) != 0) {
      return bad_input(
          fmt::format("cannot start {}: the file is not executable; run chmod +x {}", name, shell_word(name)));
    }
    return name;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_file(candidate) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  const char* cure =
      is_file(name) ? "; for the file in this folder write ./" : "; check the name, or give the path of ";
  return bad_input(fmt::format("cannot start {}: PATH has no such program{}{}", name, cure, name));
}

}  // namespace wicprof::cli
