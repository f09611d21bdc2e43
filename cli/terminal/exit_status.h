// wic-prof's exit status. `run` passes on the program's own status once the program has started.
#pragma once

#include "protocol/result.h"

namespace wicprof::cli {

enum ExitStatus : int {
  kDone = 0,
  kCheckFailed = 1,
  kBadInput = 2,     ///< bad usage or a bad input file
  kUnavailable = 3,  ///< this machine cannot do it
};

constexpr int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return kBadInput;
    case ErrorKind::failed:
      return kCheckFailed;
    case ErrorKind::unavailable:
      break;
  }
  return kUnavailable;
}

}  // namespace wicprof::cli
