// The folder into which the program saves its sampled modules (kModulesVariable).
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

class ModulesFolder {
 public:
  /// Creates the folder beside the session's file, accessible to its owner only. Error: it cannot be created.
  static Result<ModulesFolder> make(const std::string& session_path);
  ModulesFolder(ModulesFolder&& other) noexcept;
  ModulesFolder& operator=(ModulesFolder&&) = delete;
  /// Removes the folder and its content.
  ~ModulesFolder();

  const std::string& path() const { return path_; }

 private:
  explicit ModulesFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace wicprof::cli
