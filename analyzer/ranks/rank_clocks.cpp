#include "analyzer/ranks/rank_clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/ranks/rank_meetings.h"

namespace wicprof::analyzer {

namespace {

/// When the trace's clock was 0, in the time of day. Nothing if the trace does not say.
std::optional<TimeNs> zero_of_clock(const TraceModel& model) {
  std::tm utc{};
  const std::string day = model.meta_value(store::MetaKey::started_utc),
                    started = model.meta_value(store::MetaKey::started_ns);
  if (started.empty() || strptime(day.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return std::nullopt;
  return TimeNs{timegm(&utc)} * kSecond - static_cast<TimeNs>(std::strtoll(started.c_str(), nullptr, 10));
}

/// Whether no clock gives both: a begin that is later than the end of another's call.
bool contradicts(std::optional<TimeNs> begin, std::optional<TimeNs> end) {
  return begin && end && *begin > *end + kShortestMpiWait;
}

/// By trace. Traces of one machine have one clock, unless the order of their calls contradicts it.
std::vector<std::uint32_t> clocks_of(const std::vector<TraceModel>& traces, const std::vector<RankPresence>& all) {
  std::vector<std::uint32_t> first_of(traces.size());            // the first trace of the same machine
  using Zero = std::pair<std::optional<TimeNs>, std::uint32_t>;  // of a trace
  std::map<std::string, std::vector<Zero>> of_host;
  for (std::uint32_t i = 0; i < traces.size(); ++i) {
    const std::optional<TimeNs> zero = zero_of_clock(traces[i]);
    std::vector<Zero>& others = of_host[traces[i].meta_value(store::MetaKey::host)];
    const auto other = std::find_if(others.begin(), others.end(), [&](const Zero& there) {
      return !zero || !there.first || std::abs(*zero - *there.first) <= kSameBoot;
    });
    first_of[i] = other == others.end() ? i : first_of[other->second];
    others.emplace_back(zero, i);
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> contradict;
  ClockSides sides_of(first_of);
  for_each_meeting(all, [&](std::span<const RankPresence> meeting) {
    const std::vector<ClockSide> sides = sides_of.of(meeting);
    if (std::none_of(sides.begin(), sides.end(),
                     [](const ClockSide& side) { return contradicts(side.begin, side.end); }))
      return;
    for (const RankPresence& one : meeting) {
      for (const RankPresence& other : meeting) {
        if (first_of[one.trace] == first_of[other.trace] && contradicts(one.begin, other.end))
          contradict.insert(std::minmax(one.trace, other.trace));
      }
    }
  });
  struct Clock {
    std::uint32_t number;
    std::vector<std::uint32_t> traces;
  };
  std::map<std::uint32_t, std::vector<Clock>> clocks_of;  // by the first trace of the machine
  std::uint32_t count = 0;
  std::vector<std::uint32_t> clock;
  for (std::uint32_t i = 0; i < traces.size(); ++i) {
    std::vector<Clock>& known = clocks_of[first_of[i]];
    auto found = std::find_if(known.begin(), known.end(), [&](const Clock& each) {
      return std::none_of(each.traces.begin(), each.traces.end(), [&](std::uint32_t other) {
        return contradict.contains({other, i});
      });
    });
    if (found == known.end()) found = known.insert(found, Clock{count++, {}});
    found->traces.push_back(i);
    clock.push_back(found->number);
  }
  return clock;
}

/// Brings one clock after the other to the first one.
class Alignment {
 public:
  Alignment(std::vector<RankMeeting> meetings, std::size_t clocks, std::vector<std::optional<TimeNs>> zeros)
      : meetings_(std::move(meetings)), zeros_(std::move(zeros)), shifts_(clocks), done_(clocks) {
    done_[0] = true;
  }

  std::vector<ClockShift> run() {
    for (const bool one_side_is_enough : {false, true}) {
      while (round(one_side_is_enough)) continue;
    }
    for (std::size_t clock = 0; clock < shifts_.size(); ++clock) {
      if (done_[clock]) continue;
      const TimeNs shift = std::llround(by_day(clock).value_or(0));
      shifts_[clock] = ClockShift({{0, shift}}, kSameBoot, false);
    }
    return std::move(shifts_);
  }

 private:
  std::optional<double> by_day(std::size_t clock) const {
    if (!zeros_[clock] || !zeros_[0]) return std::nullopt;
    return static_cast<double>(*zeros_[clock] - *zeros_[0]);
  }

  bool round(bool one_side_is_enough) {
    bool any = false;
    std::map<std::uint32_t, double> bases;
    std::map<std::uint32_t, ShiftEvidence> evidence = gather(bases);
    for (auto& [clock, of] : evidence) {
      if (!one_side_is_enough && !(of.low && of.high)) continue;
      const auto earlier = [](const auto& a, const auto& b) { return a.at < b.at; };
      std::stable_sort(of.bounds.begin(), of.bounds.end(), earlier);
      std::stable_sort(of.seeming.begin(), of.seeming.end(), earlier);
      if (const std::optional<double> day = by_day(clock)) of.by_day = *day - bases[clock];
      shifts_[clock] = shift_by(of, bases[clock]);
      done_[clock] = any = true;
    }
    return any;
  }

  /// What the clocks that are aligned say about the others; shifts relative to a base, where doubles are exact.
  std::map<std::uint32_t, ShiftEvidence> gather(std::map<std::uint32_t, double>& bases) const {
    std::map<std::uint32_t, ShiftEvidence> evidence;
    for (const RankMeeting& meeting : meetings_) {
      std::optional<TimeNs> begin, end;
      TimeNs error = 0;
      for (const ClockSide& side : meeting.sides) {
        if (!done_[side.clock]) continue;
        const ClockShift& shift = shifts_[side.clock];
        error = std::max(error, shift.error());
        if (side.begin) {
          const TimeNs at = *side.begin + shift.at(*side.begin);
          begin = std::max(begin.value_or(at), at);
        }
        if (side.end) {
          const TimeNs at = *side.end + shift.at(*side.end);
          end = std::min(end.value_or(at), at);
        }
      }
      for (const ClockSide& side : meeting.sides) {
        if (done_[side.clock]) continue;
        const auto relative = [&](TimeNs there, TimeNs here) {
          const auto [base, first] = bases.try_emplace(side.clock, static_cast<double>(there - here));
          return static_cast<double>(there - here - static_cast<TimeNs>(base->second));
        };
        if (begin && side.end) {
          ShiftEvidence& of = evidence[side.clock];
          of.bounds.emplace_back().at = *side.end;
          of.bounds.back().low = relative(*begin - error, *side.end);
          of.low = true;
        }
        if (end && side.begin) {
          ShiftEvidence& of = evidence[side.clock];
          of.bounds.emplace_back().at = *side.begin;
          of.bounds.back().high = relative(*end + error, *side.begin);
          of.high = true;
        }
        if (meeting.shortest && end && side.end)
          evidence[side.clock].seeming.push_back({*side.end, relative(*end, *side.end), *meeting.shortest + error});
      }
    }
    return evidence;
  }

  std::vector<RankMeeting> meetings_;
  std::vector<std::optional<TimeNs>> zeros_;
  std::vector<ClockShift> shifts_;
  std::vector<bool> done_;
};

}  // namespace

RankClocks rank_clocks(const std::vector<TraceModel>& traces) {
  const std::vector<RankPresence> all = presences(traces);
  RankClocks clocks;
  clocks.clock = clocks_of(traces, all);
  const std::size_t count = std::size_t{1} + *std::max_element(clocks.clock.begin(), clocks.clock.end());
  std::vector<std::optional<TimeNs>> zeros(count);
  for (std::size_t i = traces.size(); i-- > 0;) zeros[clocks.clock[i]] = zero_of_clock(traces[i]);
  clocks.shifts = Alignment(meetings_of_clocks(all, clocks.clock), count, std::move(zeros)).run();
  return clocks;
}

}  // namespace wicprof::analyzer
