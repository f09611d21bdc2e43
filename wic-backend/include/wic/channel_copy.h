// Copies a message inside a kernel, with many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wic/thread.h"

namespace wic {

struct alignas(16) CopyQuad {
  std::uint32_t words[4];
};

/// Worker `worker` of `workers` copies its share, in 16-byte pieces where both addresses are aligned. Each thread has
/// four reads in flight, since one may take a microsecond.
WIC_DEVICE inline void copy_bytes(const Thread& thread, std::uint32_t worker, std::uint32_t workers, std::byte* to,
                                  const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kReadsInFlight = 4;
  std::size_t done = 0;
  if (((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 15) == 0) {
    const std::size_t quads = bytes / 16;
    auto* const to_quads = reinterpret_cast<CopyQuad*>(to);
    const auto* const from_quads = reinterpret_cast<const CopyQuad*>(from);
    for (std::size_t begin = worker; begin < quads; begin += kReadsInFlight * workers) {
      CopyQuad values[kReadsInFlight] = {};
      for (std::size_t k = 0; k < kReadsInFlight; ++k) {
        if (begin + k * workers < quads) values[k] = from_quads[begin + k * workers];
      }
      for (std::size_t k = 0; k < kReadsInFlight; ++k) {
        if (begin + k * workers < quads) to_quads[begin + k * workers] = values[k];
      }
      thread.step();
    }
    done = quads * 16;
  }
  for (std::size_t i = done + worker; i < bytes; i += workers) {
    to[i] = from[i];
    thread.step();
  }
}

}  // namespace wic
