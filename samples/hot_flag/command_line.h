// The command line of hot_flag, apart from main.cpp: nvcc reads main.cpp twice, and CLI11 is long.
#pragma once

#include "common/options.h"

namespace sample {

/// What the user asked for; 0 = not given.
struct HotFlagCommand {
  SampleOptions options;
  std::uint32_t threads = 0;             ///< per block, a multiple of 32
  std::optional<std::uint32_t> waiters;  ///< blocks; 0: streaming alone
  std::uint32_t streamers = 0;           ///< blocks
  std::size_t mib = 0;                   ///< MiB streamed
  std::uint32_t passes = 0;              ///< over these bytes, per iteration
  std::uint32_t arithmetic = 0;          ///< multiplications per word and pass
};

/// Parses the command line into `command`. Returns the exit status if the program should end: after --help or a
/// reported error.
std::optional<int> parse(HotFlagCommand& command, int argc, char** argv);

}  // namespace sample
