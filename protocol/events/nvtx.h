// An NVTX range or mark (host times).
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class NvtxKind : std::uint8_t { range = 0, mark = 1 };

struct NvtxEvent {
  static constexpr EventKind kKind{12};
  EventHeader header;
  TextId name;
  TextId domain;  ///< 0 = the default domain
  std::int64_t start_ns;
  std::int64_t end_ns;  ///< start_ns for a mark
  std::uint32_t thread;
  NvtxKind kind;
  std::uint8_t has_colour;
  std::uint8_t reserved[2];
  std::uint32_t colour;    ///< ARGB, where has_colour
  std::uint32_t category;  ///< 0 = none
};

/// A range that has begun, for a recorder that must know about it before it ends. Makes no row.
struct NvtxOpenEvent {
  static constexpr EventKind kKind{25};
  EventHeader header;
  TextId name;
  TextId domain;
  std::int64_t start_ns;
  std::uint32_t thread;
  std::uint32_t reserved;
};

}  // namespace wicprof
