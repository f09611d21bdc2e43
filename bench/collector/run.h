// Runs a program as a user does, with a deadline, and reads the figures that it prints: lines "NAME NUMBER".
#pragma once

#include <map>
#include <string>

namespace wicprof::bench {

struct RunOutcome {
  int status = -1;     ///< its exit status; 124 or 137: it was stopped at its deadline
  std::string output;  ///< stdout and stderr
  std::map<std::string, double> figures;
};

/// `command` is a shell's; blocks.
RunOutcome run_for(int seconds, const std::string& command);

/// `text` as one word of a shell command.
std::string quoted(const std::string& text);

/// The folder of the running program, with a slash at its end.
std::string own_folder();

}  // namespace wicprof::bench
