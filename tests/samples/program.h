// Runs a sample from the command line.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace sample_test {

inline constexpr int kMachineCannot = 3;  ///< exit status if this machine cannot run the sample

struct Outcome {
  int status;
  std::string output;  ///< stdout and stderr

  bool ok() const { return status == 0 && output.ends_with(", ok\n"); }
};

inline Outcome run(const std::string& program, const std::string& arguments) {
  const std::string command = program + " " + arguments + " 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "cannot start " + command};
  Outcome result{0, {}};
  char part[512];
  while (std::fgets(part, sizeof part, pipe) != nullptr) result.output += part;
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace sample_test
