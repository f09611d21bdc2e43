// Options that several verbs share, so that their names and behaviour are the same everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/files/output_file.h"

namespace wicprof::cli {

inline void add_format(CLI::App& verb, std::string& format) {
  verb.add_option("--format", format, "text for people or json for machines (one document on stdout)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

inline void add_output(CLI::App& verb, Output& output) {
  verb.add_option("-o,--output", output.name,
                  "the output file; - is stdout; %p is the pid, %h the host, %q{VAR} an environment variable, %% a "
                  "percent sign")
      ->type_name("FILE")
      ->capture_default_str();
  verb.add_flag("-f,--force-overwrite", output.overwrite, "overwrite the output if it exists");
}

inline void add_example(CLI::App& verb, const std::string& example) { verb.footer("Example:\n  " + example); }

}  // namespace wicprof::cli
