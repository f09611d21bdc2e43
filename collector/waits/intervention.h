// A toggle that is in effect, as the trace has it.
#pragma once

#include <cstdint>

#include "protocol/control.h"
#include "protocol/events/intervention.h"
#include "protocol/time.h"

namespace wicprof::collector {

struct WaitedHow {
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
};

struct ToggledWaits {
  WaitSide side = WaitSide::both;
  SiteId site = 0;  ///< 0: the whole program
  std::uint32_t sequence = 0;
};

/// In effect from now on.
inline InterventionEvent intervention(ToggledWaits of, WaitedHow before, WaitedHow after, const ControlBlock& control) {
  auto event = make_event<InterventionEvent>();
  event.site = of.site;
  event.sequence = of.sequence;
  event.old_strategy = static_cast<std::uint32_t>(before.strategy);
  event.new_strategy = static_cast<std::uint32_t>(after.strategy);
  event.old_mode = static_cast<std::uint8_t>(before.mode);
  event.new_mode = static_cast<std::uint8_t>(after.mode);
  event.side = of.side;
  event.requested_ns = control.requested_ns.load(std::memory_order_relaxed);
  event.effective_ns = now_ns();
  return event;
}

}  // namespace wicprof::collector
