#include "cli/exe_path.h"

#include <filesystem>
#include <system_error>

namespace wicprof::cli {

std::optional<std::string> beside_binary(const std::string& relative) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const std::filesystem::path path = (self.parent_path() / relative).lexically_normal();
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  return path.string();
}

}  // namespace wicprof::cli
