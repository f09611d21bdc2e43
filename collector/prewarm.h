// Patched code into the cache before a program needs it, for `wic-prof rewrite --prewarm`: a process of its own
// compiles, and no program runs.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::collector {

struct Prewarmed {
  int patched = 0;      ///< images of which the cache has patched code now
  int left_alone = 0;   ///< images that stay as they are
  std::string problem;  ///< why nothing was compiled; empty: everything was tried
  std::string notes;    ///< a line per image that stays as it is for a reason
};

/// Compiles the images of `file`, the bytes of PTX text, a cubin, a fat binary, or a program or library that holds
/// some, for the machine's GPUs. Starts the driver.
Prewarmed prewarm(std::string_view file);

}  // namespace wicprof::collector
