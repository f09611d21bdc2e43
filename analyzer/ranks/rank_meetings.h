// Collectives and messages that several traces of one job show, with what each rank did there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// What a rank did in a collective or with a message. Each begin is before each end of the others.
struct RankPresence {
  /// A collective: without sender and receiver. A message: with their numbers (RankNumbers).
  using Key = std::tuple<CommunicatorId, std::uint32_t, std::int32_t, std::int32_t, std::int32_t>;
  Key key;
  std::uint32_t trace;
  std::optional<TimeNs> begin, end;
  bool meets;  ///< all leave together
};

/// The same, of all ranks of a clock.
struct ClockSide {
  std::uint32_t clock;
  std::optional<TimeNs> begin, end;  ///< the latest begin, the earliest end

  void add(const RankPresence& one) {
    if (one.begin) begin = std::max(begin.value_or(*one.begin), *one.begin);
    if (one.end) end = std::min(end.value_or(*one.end), *one.end);
  }
};

struct RankMeeting {
  std::vector<ClockSide> sides;
  std::optional<TimeNs> shortest;  ///< of the calls of a collective that all leave together
};

/// By key.
std::vector<RankPresence> presences(const std::vector<TraceModel>& traces);

/// Calls visit(span) for the presences of each collective and each message.
void for_each_meeting(const std::vector<RankPresence>& all, const auto& visit) {
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const RankPresence& each) { return each.key != begin->key; });
    visit(std::span<const RankPresence>(begin, end));
    begin = end;
  }
}

/// Groups presences by clock.
class ClockSides {
 public:
  /// By trace; clocks are numbers below that of traces.
  explicit ClockSides(const std::vector<std::uint32_t>& clock) : clock_(clock), place_(clock.size(), kNone) {}

  std::vector<ClockSide> of(std::span<const RankPresence> meeting) {
    std::vector<ClockSide> sides;
    for (const RankPresence& each : meeting) {
      const std::uint32_t of = clock_[each.trace];
      if (place_[of] == kNone) {
        place_[of] = static_cast<std::uint32_t>(sides.size());
        sides.push_back(ClockSide{of, {}, {}});
      }
      sides[place_[of]].add(each);
    }
    for (const ClockSide& side : sides) place_[side.clock] = kNone;
    return sides;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const std::vector<std::uint32_t>& clock_;
  std::vector<std::uint32_t> place_;  // of a clock in the list that is made
};

/// Of ranks with different clocks. `clock`: by trace.
std::vector<RankMeeting> meetings_of_clocks(const std::vector<RankPresence>& all,
                                            const std::vector<std::uint32_t>& clock);

}  // namespace wicprof::analyzer
