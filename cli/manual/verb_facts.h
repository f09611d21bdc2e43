// What the man pages and completions say about the verbs, read from the definitions of the command line, so that
// nothing is written twice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace wicprof::cli {

struct OptionFacts {
  std::vector<std::string> names;    ///< "-o", "--output"; of an argument, its name alone: "FILE"
  std::string value;                 ///< "FILE"; empty: a flag
  bool value_optional = false;       ///< the option may stand alone
  std::vector<std::string> choices;  ///< the values that there are; empty: others, too
  std::string what;
  std::vector<std::string> remarks;  ///< "default: 1m", "only with --ab"
};

struct OptionGroup {
  std::string title;
  std::vector<OptionFacts> options;
};

struct VerbFacts {
  std::string name;   ///< "run"; "wic-prof" for the program
  std::string usage;  ///< "wic-prof run [OPTIONS] -- APP ARGS..."
  std::string what;
  std::string example;  ///< command lines
  std::vector<OptionFacts> arguments;
  std::vector<OptionGroup> groups;
};

/// Without hidden options.
VerbFacts facts_of(const CLI::App& app);

/// Of the verbs that are not hidden, in the order of the help text.
std::vector<VerbFacts> verbs_of(const CLI::App& program);

}  // namespace wicprof::cli
