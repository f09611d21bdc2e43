// How the blocks and threads that send number their messages: each counts for itself, and may begin again.
#pragma once

#include <cstdint>

namespace wicprof::analyzer {

/// The numbers of one source so far, since it began or began again.
struct Numbering {
  std::uint32_t run = 0;    ///< tells its beginnings apart
  std::uint32_t top = 0;    ///< the highest number
  std::uint32_t first = 0;  ///< the first one
};

/// A numbering that starts again does so with one of its first numbers. bench_classification_made judges the answers.
inline constexpr std::uint32_t kFirstNumbers = 2;

}  // namespace wicprof::analyzer
