// A verb of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace wicprof::cli {

/// The words after `--`, for verbs that start a program.
using ProgramWords = std::vector<std::string>;

/// Does the verb's work once its options have been read; returns the exit status.
using VerbBody = std::function<int()>;

struct Command {
  const char* name;
  const char* what;  ///< one line for the list of verbs
  /// Declares the verb's options on `verb`. What the body needs it keeps itself.
  VerbBody (*declare)(CLI::App& verb, const ProgramWords& program);
};

}  // namespace wicprof::cli
