// The value of run's --kill: what ends the program when the recording is to end before the program does.
#pragma once

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

inline constexpr int kNoSignal = 0;  ///< leave the program running

/// "none", a name such as TERM or SIGTERM, or a number. Error: no such signal, or one that cannot end a program.
Result<int> parse_stop_signal(const std::string& text);

}  // namespace wicprof::cli
