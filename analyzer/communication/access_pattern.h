// The access pattern of what is communicated, from the places of messages in the program's data.
//
//   random          pieces of no regular form, or places and amounts that vary without order
//   streaming       ranges that go on from one to the next through the data; always new data
//   adjacent        few ranges at the borders of the parts, the same again every iteration
//   scatter-gather  regular pieces from all over the data, or ranges that change in a regular way; most of it is
//   exchanged
//
// The patterns' names are those of the WIC paper (USENIX ATC 2025); what tells them apart is ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/communication/rhythm.h"
#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// One message with what is known of its place.
struct Access {
  std::uint32_t unit = 0;    ///< number of its communication iteration
  std::uint32_t stream = 0;  ///< messages that belong to one order: one site, one direction
  bool back = false;
  Place place;
};

/// What the whole program exchanges, which one pair of its parties is seen against.
struct Exchanged {
  std::uint64_t extent = 0;  ///< where the data ends, as far as messages tell
  std::uint64_t bytes = 0;   ///< distinct bytes of all messages, capped at the extent
  double share() const { return extent == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(extent); }
};
Exchanged exchanged(std::vector<Place> places);

struct PatternAnswer {
  Pattern pattern = Pattern::unknown;
  double confidence = 0;  ///< 0 for unknown
  std::string words;      ///< with numbers; for unknown, the reason
};

/// `accesses` in order of time; `seen` as in find_rhythm(). Where iterations are not known, `unit` counts messages,
/// whose order may be an accident. Linear but for sorting.
PatternAnswer find_pattern(const std::vector<Access>& accesses, const Exchanged& whole, double seen,
                           bool iterations_known);

}  // namespace wicprof::analyzer
