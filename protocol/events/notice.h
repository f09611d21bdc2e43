// A producer's message to the user that does not concern lost data: a toggle failed, waiters were released.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class NoticeSeverity : std::uint8_t { info = 0, warning = 1, error = 2 };

struct NoticeEvent {
  static constexpr EventKind kKind{26};
  EventHeader header;
  std::int64_t at_ns;  ///< host time
  TextId text;
  NoticeSeverity severity;
  std::uint8_t reserved[3];
};

}  // namespace wicprof
