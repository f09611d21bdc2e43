#include "bench/collector/run.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace wicprof::bench {

RunOutcome run_for(int seconds, const std::string& command) {
  RunOutcome outcome;
  const std::string whole = "timeout -k 5 " + std::to_string(seconds) + " " + command + " 2>&1";
  std::FILE* const pipe = ::popen(whole.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char part[512];
  while (std::fgets(part, sizeof part, pipe) != nullptr) outcome.output += part;
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos || blank + 1 == line.size()) continue;
    char* end = nullptr;
    const double value = std::strtod(line.c_str() + blank + 1, &end);
    if (*end == '\0' && end != line.c_str() + blank + 1) outcome.figures[line.substr(0, blank)] = value;
  }
  return outcome;
}

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string own_folder() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string() + "/";
}

}  // namespace wicprof::bench
