// The strategy that `auto` chose for a site, and why. Not an intervention: the site stays on `auto`.
#pragma once

#include "protocol/events/header.h"

namespace wicprof {

/// Host time. The figures are the ones that decided. `waits` 0: the site had no waits yet, and its declaration decided.
struct ChoiceEvent {
  static constexpr EventKind kKind{17};
  EventHeader header;
  SiteId site;
  std::uint32_t strategy;
  std::int64_t at_ns;
  TextId reason;
  std::uint32_t waiters_per_word;  ///< largest number of simultaneous waiters on one word; 0 = not known
  std::uint32_t words;             ///< distinct words; 0 = not known
  std::uint32_t waits;
  std::int64_t median_wait_ns;  ///< -1 = not known
  std::int64_t look_ns;         ///< duration of one poll of the word; -1 = not known
};

}  // namespace wicprof
