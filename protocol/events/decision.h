// What the autopilot (wic-prof run --auto) decided about how a side of the program waits, and the figures that it
// decided by. Each change of the program that follows from it is an intervention of its own.
#pragma once

#include <optional>
#include <string_view>

#include "protocol/events/header.h"
#include "protocol/strategy.h"

namespace wicprof {

/// Never renumber: traces hold these numbers.
enum class DecisionKind : std::uint8_t {
  none = 0,
  trial = 1,    ///< to try parking: phases of both modes in random order begin
  keep = 2,     ///< parking pays and stays
  refuse = 3,   ///< parking was tried and does not pay; the side waits in its own way
  stay = 4,     ///< a check of what is kept: it still pays
  go_back = 5,  ///< what was kept does not pay any more; the side waits in its own way
  end = 6,      ///< the autopilot has ended
};

constexpr std::string_view decision_name(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::trial:
      return "trial";
    case DecisionKind::keep:
      return "keep";
    case DecisionKind::refuse:
      return "refuse";
    case DecisionKind::stay:
      return "stay";
    case DecisionKind::go_back:
      return "go back";
    case DecisionKind::end:
      return "end";
    case DecisionKind::none:
      break;
  }
  return "none";
}

/// Host times. Ratios are times per unit while polling / while parked, in millionths: above 1,000,000 parking is
/// shorter. All figures but at_ns are 0 where nothing was measured.
struct DecisionEvent {
  static constexpr EventKind kKind{32};
  EventHeader header;
  std::int64_t from_ns;  ///< when the measurement began
  std::int64_t at_ns;
  std::int64_t ratio_ppm, low_ppm, high_ppm;
  std::int64_t poll_ns, park_ns;          ///< time per unit
  std::int64_t poll_p99_ns, park_p99_ns;  ///< 99th percentile of the units
  std::uint32_t blocks;                   ///< pairs of phases, one of each mode
  std::uint32_t poll_units, park_units;
  TextId reason;
  TextId unit;  ///< what was timed
  std::uint32_t strategy;
  DecisionKind decision;
  WaitSide side;
  std::uint8_t reserved[6];
};

}  // namespace wicprof
