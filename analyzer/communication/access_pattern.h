// The access pattern of the communication, from the places of messages in the program's data.
//
//   random          irregular pieces, or places and amounts that vary without order
//   streaming       each range continues the previous one through the data; always new data
//   adjacent        few ranges at the borders of the parts, the same every iteration
//   scatter-gather  regular pieces from all over the data, or ranges that change regularly; the messages cover most of
//   the data
//
// The names of the patterns are those of the WIC paper (USENIX ATC 2025); the criteria are this project's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/communication/rhythm.h"
#include "analyzer/communication/stream_facts.h"
#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// All data that the program exchanges.
struct Exchanged {
  std::uint64_t extent = 0;  ///< the end of the data, as far as messages show it
  std::uint64_t bytes = 0;   ///< distinct bytes of all messages, capped at the extent
  double share() const { return extent == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(extent); }
};
Exchanged exchanged(std::vector<Place> places);

struct PatternAnswer {
  Pattern pattern = Pattern::unknown;
  double confidence = 0;  ///< 0 for unknown
  std::string words;      ///< a sentence with figures; for unknown, the reason
};

/// What the units of accesses are.
enum class Units {
  messages,     ///< whose order may be a coincidence
  repetitions,  ///< of the messages' order
  iterations,   ///< the program's own
};

/// `accesses` in order of time; `seen` as in Completeness. Linear but for sorting.
PatternAnswer find_pattern(const std::vector<Access>& accesses, const Exchanged& whole, double seen, Units units);

}  // namespace wicprof::analyzer
