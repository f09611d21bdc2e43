// Sums over the records of each site, and which sites only return buffer space to a producer: their signals are no
// messages.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/communication/parties.h"
#include "analyzer/communication/traffic.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

/// Sums over the records of one site.
struct SiteFacts {
  std::uint64_t signals = 0, announcing = 0;  ///< announcing: with a payload
  std::uint64_t edges = 0;
  std::uint64_t tagged = 0;  ///< edges whose wait and signal have one word tag
  /// How many edges have which lead: the number of the wait minus that of the signal.
  std::map<std::int64_t, std::uint64_t> leads;
  std::int64_t lead = 0;                                      ///< their median
  bool numbered = false;                                      ///< its signals have several iteration numbers
  std::uint32_t number = 0;                                   ///< of its first signal
  PartyIndex from = Message::kNobody, to = Message::kNobody;  ///< the first seen
  bool one_way = true;                                        ///< all go from `from` to `to`
  bool one_sender = true;
  bool one_source = true;  ///< block or host thread
  std::uint32_t source = Message::kNobody;
  std::uint64_t flags = 0;  ///< signals with the value 0 or 1
  bool acknowledges = false;
};

struct SignalSites {
  std::vector<SiteFacts> sites;  ///< by PartyMap::sites()
  std::uint64_t announcing = 0;  ///< signals with a payload
  std::vector<SiteId> doubtful;  ///< whose signals may be answers or acknowledgements
  double certainty = 1;          ///< of the decision which sites acknowledge
};

/// Of the words that a program's own loops poll, only some writers are seen: how the program communicates does not
/// follow from those.
inline bool is_foreign(const store::SignalRow& signal) { return signal.writer != SignalWriter::program; }

/// O(n log n) in the edges.
SignalSites find_signal_sites(const TraceModel& model, const Matching& matching, const PartyMap& map);

}  // namespace wicprof::analyzer
