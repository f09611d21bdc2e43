// A target's corpus: a text file with one input per line, in hexadecimal digits. A line that begins with # says what
// the next input once broke.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace wicprof::fuzz {

/// Empty if the file is missing or a line is not hexadecimal.
inline std::optional<std::vector<std::string>> read_corpus(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::vector<std::string> inputs;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.size() % 2 != 0) return std::nullopt;
    std::string& input = inputs.emplace_back();
    for (std::size_t i = 0; i < line.size(); i += 2) {
      if (digit(line[i]) < 0 || digit(line[i + 1]) < 0) return std::nullopt;
      input += static_cast<char>(digit(line[i]) * 16 + digit(line[i + 1]));
    }
  }
  return inputs;
}

}  // namespace wicprof::fuzz
