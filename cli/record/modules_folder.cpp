#include "cli/record/modules_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "protocol/session.h"

namespace wicprof::cli {

Result<ModulesFolder> ModulesFolder::make(const std::string& session_path) {
  const std::string path = modules_folder_of(session_path);
  // A killed wic-prof leaves its folder behind.
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  if (mkdir(path.c_str(), 0700) != 0) {
    return unavailable(fmt::format("cannot create the folder {} for sampled modules: {}; free some space there", path,
                                   std::strerror(errno)));
  }
  return ModulesFolder(path);
}

ModulesFolder::ModulesFolder(ModulesFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

ModulesFolder::~ModulesFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace wicprof::cli
