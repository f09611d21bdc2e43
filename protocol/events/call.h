// A driver or runtime API call on a host thread (host times), or equal queries of one after the other.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

enum class CallApi : std::uint8_t { driver = 0, runtime = 1 };

struct CallEvent {
  static constexpr EventKind kKind{11};
  EventHeader header;
  TextId name;
  std::uint32_t thread;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t correlation;
  std::int32_t result;  ///< CUresult or cudaError_t
  CallApi api;
  std::uint8_t reserved[3];
  /// Of a thread that polls: the event stands for so many calls of this function that all returned `result`, from the
  /// start of the first to the end of the last; 0 = one call.
  std::uint32_t queries;
};

}  // namespace wicprof
