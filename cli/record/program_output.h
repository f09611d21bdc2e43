// What a helper program prints.
#pragma once

#include <string>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"

namespace wicprof::cli {

struct ProgramOutput {
  int status = 0;      ///< its exit status; 128 + the signal that ended it
  std::string text;    ///< of its stdout
  std::string errors;  ///< the first 400 bytes of its stderr
};

/// Runs the program of the path words[0] to its end. Errors: it cannot start, or it exceeds `deadline` or half a GiB of
/// output and is killed. `environment`: "NAME=value"; nullptr: this process's.
Result<ProgramOutput> output_of(const std::vector<std::string>& words, TimeNs deadline,
                                const std::vector<std::string>* environment = nullptr);

}  // namespace wicprof::cli
