// Runs a program with a deadline and reads the figures that it prints as lines "NAME NUMBER".
#pragma once

#include <map>
#include <string>

namespace wicprof::bench {

struct RunOutcome {
  int status = -1;     ///< exit status; 124 or 137: stopped at the deadline
  std::string output;  ///< stdout and stderr
  std::map<std::string, double> figures;
};

/// Runs a shell command and waits for its end.
RunOutcome run_for(int seconds, const std::string& command);

/// Quotes `text` as one word of a shell command.
std::string quoted(const std::string& text);

/// The folder of the running program, with a trailing slash.
std::string own_folder();

}  // namespace wicprof::bench
