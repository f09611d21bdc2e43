// A way of waiting, by number and name.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

struct StrategyEvent {
  static constexpr EventKind kKind{5};
  EventHeader header;
  std::uint32_t strategy;
  TextId name;
};

}  // namespace wicprof
