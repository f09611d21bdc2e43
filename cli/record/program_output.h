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

/// Whether a Ctrl-C that ends this process's group ends the helper program, too.
enum class CtrlC { ends_it, spares_it };

/// Runs the program of the path words[0] to its end. Errors: it cannot start, or it exceeds `deadline` or half a GiB of
/// output and is killed. `environment`: "NAME=value"; nullptr: this process's.
Result<ProgramOutput> output_of(const std::vector<std::string>& words, TimeNs deadline,
                                const std::vector<std::string>* environment = nullptr, CtrlC ctrl_c = CtrlC::ends_it);

}  // namespace wicprof::cli
