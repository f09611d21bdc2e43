// Options that several verbs have, so that they are called and behave the same everywhere.
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
                  "where to write; - is stdout; %p pid, %h host, %q{VAR} environment, %% percent sign")
      ->type_name("FILE")
      ->capture_default_str();
  verb.add_flag("-f,--force-overwrite", output.overwrite, "overwrite the output when it exists");
}

inline void add_example(CLI::App& verb, const std::string& example) { verb.footer("Example:\n  " + example); }

}  // namespace wicprof::cli
