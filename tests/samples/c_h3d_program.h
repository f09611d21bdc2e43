// Runs the c_h3d program as a user does.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace c_h3d_test {

struct Outcome {
  int status;
  std::string output;  ///< stdout and stderr
};

inline Outcome run(const std::string& arguments) {
  const std::string command = std::string(C_H3D_PROGRAM) + " " + arguments + " 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "cannot start " + command};
  Outcome result{0, {}};
  char part[512];
  while (std::fgets(part, sizeof part, pipe) != nullptr) result.output += part;
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

inline bool ends_ok(const Outcome& outcome) { return outcome.status == 0 && outcome.output.ends_with(", ok\n"); }

}  // namespace c_h3d_test
