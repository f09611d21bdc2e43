// A folder for the files of one target, removed when the program ends. TMPDIR says where.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace wicprof::fuzz {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "wicprof-fuzz-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

}  // namespace wicprof::fuzz
