// A verb of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace wicprof::cli {

/// The words after `--`, for verbs that start a program.
using ProgramWords = std::vector<std::string>;

/// Does the verb's work after its options have been read. Returns the exit status.
using VerbBody = std::function<int()>;

struct Command {
  const char* name;
  const char* what;  ///< one line for the list of verbs
  VerbBody (*declare)(CLI::App& verb, const ProgramWords& program);
};

/// Declares the verb's options on `verb`; the returned body owns the values that they set. `verb` and `program` outlive
/// the body. Declared only: each verb's file specializes it for the verb's tag, which list.h names.
template <class Tag>
VerbBody declare(CLI::App& verb, const ProgramWords& program);

}  // namespace wicprof::cli
