// A text, sent once before the first event that refers to it.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// Followed in the ring by `length` bytes (no terminating NUL) and zeros up to a multiple of 8.
struct TextEvent {
  static constexpr EventKind kKind{1};
  EventHeader header;
  TextId id;  ///< unique within the ring that carries it
  std::uint32_t length;
};
inline constexpr std::size_t kMaxTextLength = 2048;  ///< longer texts are cut

}  // namespace wicprof
