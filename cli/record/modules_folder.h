// The folder in which the program leaves the modules that were sampled (kModulesVariable).
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

class ModulesFolder {
 public:
  /// Makes it beside the session's file, for its owner only.
  static Result<ModulesFolder> make(const std::string& session_path);
  ModulesFolder(ModulesFolder&& other) noexcept;
  ModulesFolder& operator=(ModulesFolder&&) = delete;
  /// Removes it with all that is in it.
  ~ModulesFolder();

  const std::string& path() const { return path_; }

 private:
  explicit ModulesFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace wicprof::cli
