#include "protocol/file_text.h"

#include <fstream>
#include <sstream>

namespace wicprof {

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

}  // namespace wicprof
