// Points XDG_RUNTIME_DIR at the test's own folder, so that tests see neither each other's sessions nor the user's.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace wicprof {

class RuntimeFolder {
 public:
  RuntimeFolder() {
    if (const char* old = std::getenv("XDG_RUNTIME_DIR")) old_ = old;
    std::string name = (std::filesystem::temp_directory_path() / "wicprof-run-XXXXXX").string();
    path_ = mkdtemp(name.data());
    setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
  }
  ~RuntimeFolder() {
    if (old_) {
      setenv("XDG_RUNTIME_DIR", old_->c_str(), 1);
    } else {
      unsetenv("XDG_RUNTIME_DIR");
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string sessions() const { return path_ + "/wic-prof"; }

 private:
  std::string path_;
  std::optional<std::string> old_;
};

}  // namespace wicprof
