#include "cli/files/exe_path.h"

#include <filesystem>
#include <system_error>

namespace wicprof::cli {

namespace {
std::optional<std::filesystem::path> path_beside_binary(const std::string& relative) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  return (self.parent_path() / relative).lexically_normal();
}
}  // namespace

std::optional<std::string> beside_binary(const std::string& relative) {
  const auto path = path_beside_binary(relative);
  std::error_code error;
  if (!path || !std::filesystem::is_regular_file(*path, error)) return std::nullopt;
  return path->string();
}

std::optional<std::string> folder_beside_binary(const std::string& relative) {
  const auto path = path_beside_binary(relative);
  std::error_code error;
  if (!path || !std::filesystem::is_directory(*path, error)) return std::nullopt;
  return path->string();
}

}  // namespace wicprof::cli
