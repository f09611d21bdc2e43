#include "cli/files/output_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace wicprof::cli {

std::string numbered(const std::string& pattern, const std::string& part) {
  const std::string kEnd = ".wicprof";
  const bool ends = pattern.ends_with(kEnd);
  return (ends ? pattern.substr(0, pattern.size() - kEnd.size()) : pattern) + "." + part + (ends ? kEnd : "");
}

std::string literal_name(const std::string& name) {
  std::string pattern;
  for (const char c : name) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern;
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string usual_trace_name(const std::string& program) { return literal_name(base_name(program)) + ".%p.wicprof"; }

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

Result<std::string> expand_output_name(const std::string& pattern, pid_t pid) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
      continue;
    }
    const char what = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    ++i;
    if (what == 'p') {
      name += std::to_string(pid);
    } else if (what == 'h') {
      name += host_name();
    } else if (what == '%') {
      name += '%';
    } else if (what == 'q') {
      const std::size_t close = pattern.find('}', i);
      if (i + 1 >= pattern.size() || pattern[i + 1] != '{' || close == std::string::npos) {
        return bad_input(fmt::format("the output name '{}' has a %q without its variable; write %q{{VAR}}", pattern));
      }
      const std::string variable = pattern.substr(i + 2, close - i - 2);
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr) {
        return bad_input(
            fmt::format("the output name '{}' needs the environment variable {}, which is not set", pattern, variable));
      }
      name += value;
      i = close;
    } else {
      return bad_input(fmt::format(
          "the output name '{}' has an unknown placeholder; the placeholders are %p (process id), %h (host), "
          "%q{{VAR}} (environment) and %% (a percent sign)",
          pattern));
    }
  }
  return name;
}

}  // namespace wicprof::cli
