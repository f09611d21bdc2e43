#include "analyzer/ranks/rank_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/ranks/mpi_waits.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {
namespace {

/// A trace's begin in the time of day has whole seconds, and clocks of one boot are slewed since.
constexpr TimeNs kSameBoot = 2 * kSecond;
/// Linux slews a clock by at most 500 ppm; of two clocks.
constexpr double kMostDrift = 1e-3;
/// Clocks may differ by so much more than the first call that they share shows.
constexpr double kFarthest = 3600e9;
/// From so many collectives on, their ends show the drift. Not calibrated.
constexpr std::size_t kShowDrift = 16;
/// Ends of collectives that differ by more than this share of the others are delayed by something else.
constexpr double kUsualPercent = 75, kTimesTheSpread = 3;
/// The rank that comes last leaves before those that waited, by a time that nothing in the calls shows. Calibrated with
/// three ranks of Open MPI on two CPUs, whose true shift was known: without it, shifts were off by up to 7 us, and in 3
/// of 40 jobs by more than their error.
constexpr double kUnseenLag = 20e3;
/// Bounds that no straight line fits are halved as long as each half has so many. Not calibrated.
constexpr std::size_t kFewestBounds = 8;

/// A collective: without sender and receiver. A message: with their ranks in MPI_COMM_WORLD.
using Key = std::tuple<CommunicatorId, std::uint32_t, std::int32_t, std::int32_t, std::int32_t>;

/// What a rank did in a collective or with a message. Each begin is before each end of the others.
struct Presence {
  Key key;
  std::uint32_t trace;
  std::optional<TimeNs> begin, end;
  bool meets;  ///< all leave together
};

/// The same, of all ranks of a clock.
struct Side {
  std::uint32_t clock;
  std::optional<TimeNs> begin, end;  ///< the latest begin, the earliest end

  void add(const Presence& one) {
    if (one.begin) begin = std::max(begin.value_or(*one.begin), *one.begin);
    if (one.end) end = std::min(end.value_or(*one.end), *one.end);
  }
};

struct Meeting {
  std::vector<Side> sides;
  std::optional<TimeNs> shortest;  ///< of the calls of a collective that all leave together
};

void add_collective(const auto& row, std::int32_t world_rank, std::uint32_t trace, std::optional<TimeNs> begin,
                    std::optional<TimeNs> end, std::vector<Presence>& to) {
  const MpiFlow flow = mpi_flow(row.operation);
  const bool is_root = row.peer && *row.peer == world_rank;
  if (flow == MpiFlow::prefix || (flow != MpiFlow::all_to_all && !row.peer)) return;
  if (flow == MpiFlow::from_root) (is_root ? end : begin).reset();
  if (flow == MpiFlow::to_root) (is_root ? begin : end).reset();
  to.push_back({{*row.communicator, *row.sequence, -1, -1, -1}, trace, begin, end, flow == MpiFlow::all_to_all});
}

std::vector<Presence> presences(const std::vector<TraceModel>& traces) {
  std::vector<Presence> all;
  for (std::uint32_t trace = 0; trace < traces.size(); ++trace) {
    const TraceModel& model = traces[trace];
    std::map<store::ProcessId, std::int32_t> world_rank;
    for (const store::MpiCommunicatorRow& row : model.mpi_communicators) world_rank[row.process] = row.world_rank;
    const auto add = [&](const auto& row, TimeNs posted, bool begins, bool ends) {
      const auto rank = world_rank.find(row.process);
      if (!row.communicator || !row.sequence || rank == world_rank.end()) return;
      const MpiKind kind = mpi_kind(row.operation);
      std::optional<TimeNs> begin, end;
      if (begins) begin = posted;
      if (ends) end = row.end;
      if (kind == MpiKind::collective) return add_collective(row, rank->second, trace, begin, end, all);
      if (kind == MpiKind::local || !row.peer || !row.tag) return;
      const bool sends = kind == MpiKind::sends;
      const std::int32_t from = sends ? rank->second : *row.peer, to = sends ? *row.peer : rank->second;
      all.push_back({{*row.communicator, *row.sequence, from, to, *row.tag}, trace, begin, end, false});
    };
    for (const store::MpiCallRow& call : model.mpi_calls) {
      const bool sends = mpi_kind(call.operation) == MpiKind::sends;
      if (call.operation == MpiOperation::irecv) continue;
      add(call, call.begin, true, sends ? call.operation == MpiOperation::ssend : !mpi_begins_only(call.operation));
    }
    for (const store::MpiRequestRow& row : model.mpi_requests) {
      if (mpi_kind(row.operation) == MpiKind::sends && row.operation != MpiOperation::issend) continue;
      add(row, row.posted, mpi_kind(row.operation) == MpiKind::receives, true);
    }
  }
  std::sort(all.begin(), all.end(), [](const Presence& a, const Presence& b) { return a.key < b.key; });
  return all;
}

/// Calls visit(span) for the presences of each collective and each message.
void for_each_meeting(const std::vector<Presence>& all, const auto& visit) {
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const Presence& each) { return each.key != begin->key; });
    visit(std::span<const Presence>(begin, end));
    begin = end;
  }
}

/// Groups presences by clock.
class Sides {
 public:
  /// By trace; clocks are numbers below that of traces.
  explicit Sides(const std::vector<std::uint32_t>& clock) : clock_(clock), place_(clock.size(), kNone) {}

  std::vector<Side> of(std::span<const Presence> meeting) {
    std::vector<Side> sides;
    for (const Presence& each : meeting) {
      const std::uint32_t of = clock_[each.trace];
      if (place_[of] == kNone) {
        place_[of] = static_cast<std::uint32_t>(sides.size());
        sides.push_back(Side{of, {}, {}});
      }
      sides[place_[of]].add(each);
    }
    for (const Side& side : sides) place_[side.clock] = kNone;
    return sides;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const std::vector<std::uint32_t>& clock_;
  std::vector<std::uint32_t> place_;  // of a clock in the list that is made
};

std::vector<Meeting> meetings_of_clocks(const std::vector<Presence>& all, const std::vector<std::uint32_t>& clock) {
  std::vector<Meeting> meetings;
  Sides sides(clock);
  for_each_meeting(all, [&](std::span<const Presence> presences) {
    Meeting meeting{sides.of(presences), {}};
    if (meeting.sides.size() < 2) return;
    for (const Presence& each : presences) {
      if (!each.meets || !each.begin || !each.end) continue;
      meeting.shortest = std::min(meeting.shortest.value_or(*each.end - *each.begin), *each.end - *each.begin);
    }
    meetings.push_back(std::move(meeting));
  });
  return meetings;
}

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
std::vector<std::uint32_t> clocks_of(const std::vector<TraceModel>& traces, const std::vector<Presence>& all) {
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
  Sides sides_of(first_of);
  for_each_meeting(all, [&](std::span<const Presence> meeting) {
    const std::vector<Side> sides = sides_of.of(meeting);
    if (std::none_of(sides.begin(), sides.end(), [](const Side& side) { return contradicts(side.begin, side.end); }))
      return;
    for (const Presence& one : meeting) {
      for (const Presence& other : meeting) {
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

/// A bound of the shift at a time, or where collectives end together, what the shift seems to be.
struct Bound {
  TimeNs at;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
struct SeemingShift {
  TimeNs at;
  double shift;
  TimeNs shortest;
};

struct Evidence {
  std::vector<Bound> bounds;          ///< in order of time
  std::vector<SeemingShift> seeming;  ///< in order of time
  std::optional<double> by_day;
  bool low = false, high = false;
};

struct Range {
  double low, high;
  double middle() const { return (low + high) / 2; }
  double half() const { return (high - low) / 2; }
};

/// The straight lines that keep all bounds, by their values at the begin and at the end of a time.
class Lines {
 public:
  Lines(TimeNs from, TimeNs upto) : from_(from), length_(static_cast<double>(std::max<TimeNs>(upto - from, 1))) {
    const double drift = kMostDrift * length_ + 1;
    corners_ = {{-kFarthest, -kFarthest - drift},
                {kFarthest, kFarthest - drift},
                {kFarthest, kFarthest + drift},
                {-kFarthest, -kFarthest + drift}};
  }

  void keep(const Bound& bound) {
    const double share = static_cast<double>(bound.at - from_) / length_;
    if (std::isfinite(bound.high)) cut(1 - share, share, bound.high + 1);
    if (std::isfinite(bound.low)) cut(share - 1, -share, 1 - bound.low);
  }
  bool any() const { return !corners_.empty(); }
  Range at_begin() const { return range(0); }
  Range at_end() const { return range(1); }

 private:
  using Corner = std::array<double, 2>;

  /// Keeps the lines with a x + b y <= limit.
  void cut(double a, double b, double limit) {
    std::vector<Corner> kept;
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      const Corner &here = corners_[i], &next = corners_[(i + 1) % corners_.size()];
      const double over = a * here[0] + b * here[1] - limit, over_next = a * next[0] + b * next[1] - limit;
      if (over <= 0) kept.push_back(here);
      if ((over < 0 && over_next > 0) || (over > 0 && over_next < 0)) {
        const double share = over / (over - over_next);
        kept.push_back({here[0] + share * (next[0] - here[0]), here[1] + share * (next[1] - here[1])});
      }
    }
    corners_ = std::move(kept);
  }
  Range range(std::size_t which) const {
    Range range{corners_[0][which], corners_[0][which]};
    for (const Corner& corner : corners_) {
      range.low = std::min(range.low, corner[which]);
      range.high = std::max(range.high, corner[which]);
    }
    return range;
  }

  TimeNs from_;
  double length_;
  std::vector<Corner> corners_;
};

double median_of(std::span<const SeemingShift> seeming, const auto& value_of) {
  std::vector<double> values;
  for (const SeemingShift& each : seeming) values.push_back(static_cast<double>(value_of(each)));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A shift that changes steadily, with what the bounds leave open at both ends.
struct Segment {
  TimeNs from, upto;
  Range begin, end;
};

/// Narrows the segment to what the collectives' ends show.
void narrow(Segment& segment, std::span<const SeemingShift> seeming) {
  if (seeming.empty()) return;
  const auto shift = [](const SeemingShift& each) { return each.shift; };
  const auto at = [](const SeemingShift& each) { return each.at; };
  double slope = 0, middle = median_of(seeming, shift), middle_at = median_of(seeming, at);
  const double length = static_cast<double>(segment.upto - segment.from);
  double error = kUnseenLag + median_of(seeming, [](const SeemingShift& each) { return each.shortest; });
  if (seeming.size() >= kShowDrift) {
    const auto first = seeming.first(seeming.size() / 2), second = seeming.subspan(seeming.size() / 2);
    const double apart = median_of(second, at) - median_of(first, at);
    if (apart > 0) slope = (median_of(second, shift) - median_of(first, shift)) / apart;
    slope = std::clamp(slope, -kMostDrift, kMostDrift);
    middle = (median_of(second, shift) + median_of(first, shift)) / 2;
    middle_at = (median_of(second, at) + median_of(first, at)) / 2;
  } else {
    error += kMostDrift * length / 2;
  }
  const auto line = [&](TimeNs time) { return middle + slope * (static_cast<double>(time) - middle_at); };
  std::vector<TimeNs> off;
  for (const SeemingShift& each : seeming) off.push_back(std::llround(std::abs(each.shift - line(each.at))));
  error += kTimesTheSpread * static_cast<double>(percentile_in_place(off, kUsualPercent));
  const auto both = [&](const Range& range, TimeNs time) {
    return Range{std::max(range.low, line(time) - error), std::min(range.high, line(time) + error)};
  };
  const Range begin = both(segment.begin, segment.from), end = both(segment.end, segment.upto);
  if (begin.low > begin.high || end.low > end.high) return;  // the ends contradict the bounds
  segment.begin = begin;
  segment.end = end;
}

/// Segments whose lines keep all bounds, as few as need be.
void fit(std::span<const Bound> bounds, std::span<const SeemingShift> seeming, std::vector<Segment>& to) {
  Lines lines(bounds.front().at, bounds.back().at);
  for (const Bound& bound : bounds) {
    lines.keep(bound);
    if (!lines.any()) break;
  }
  const std::size_t half = bounds.size() / 2;
  if (!lines.any() && half >= kFewestBounds) {
    const auto later = std::partition_point(seeming.begin(), seeming.end(),
                                            [&](const SeemingShift& each) { return each.at < bounds[half].at; });
    fit(bounds.first(half), {seeming.begin(), later}, to);
    fit(bounds.subspan(half), {later, seeming.end()}, to);
    return;
  }
  Segment segment{bounds.front().at, bounds.back().at, {}, {}};
  if (lines.any()) {
    segment.begin = lines.at_begin();
    segment.end = lines.at_end();
  } else {  // no shift fits: between those that would
    Range range{kFarthest, -kFarthest};
    for (const Bound& bound : bounds) {
      if (std::isfinite(bound.high)) range.low = std::min(range.low, bound.high);
      if (std::isfinite(bound.low)) range.high = std::max(range.high, bound.low);
    }
    segment.begin = segment.end = range;
  }
  narrow(segment, seeming);
  to.push_back(segment);
}

ClockShift shift_by(const Evidence& evidence, double base) {
  std::vector<Segment> segments;
  fit(evidence.bounds, evidence.seeming, segments);
  double error = 0, jump = 0;
  bool by_mpi = true;
  std::vector<ClockShift::Knot> knots;
  for (Segment& segment : segments) {
    for (Range* range : {&segment.begin, &segment.end}) {
      const double day = evidence.by_day.value_or(0), off = static_cast<double>(kSameBoot);
      if (range->half() > off) {
        by_mpi = false;
        if (evidence.by_day && day + off > range->low && day - off < range->high)
          *range = {std::max(range->low, day - off), std::min(range->high, day + off)};
      }
      error = std::max(error, range->half());
    }
    const auto shift = [&](const Range& range) { return std::llround(base + range.middle()); };
    if (!knots.empty()) jump = std::max(jump, static_cast<double>(std::abs(shift(segment.begin) - knots.back().shift)));
    knots.push_back({segment.from, shift(segment.begin)});
    knots.push_back({segment.upto, shift(segment.end)});
  }
  return {std::move(knots), std::llround(error + jump / 2) + 1, by_mpi};
}

/// Brings one clock after the other to the first one.
class Alignment {
 public:
  Alignment(std::vector<Meeting> meetings, std::size_t clocks, std::vector<std::optional<TimeNs>> zeros)
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
    std::map<std::uint32_t, Evidence> evidence = gather(bases);
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
  std::map<std::uint32_t, Evidence> gather(std::map<std::uint32_t, double>& bases) const {
    std::map<std::uint32_t, Evidence> evidence;
    for (const Meeting& meeting : meetings_) {
      std::optional<TimeNs> begin, end;
      TimeNs error = 0;
      for (const Side& side : meeting.sides) {
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
      for (const Side& side : meeting.sides) {
        if (done_[side.clock]) continue;
        const auto relative = [&](TimeNs there, TimeNs here) {
          const auto [base, first] = bases.try_emplace(side.clock, static_cast<double>(there - here));
          return static_cast<double>(there - here - static_cast<TimeNs>(base->second));
        };
        if (begin && side.end) {
          Evidence& of = evidence[side.clock];
          of.bounds.emplace_back().at = *side.end;
          of.bounds.back().low = relative(*begin - error, *side.end);
          of.low = true;
        }
        if (end && side.begin) {
          Evidence& of = evidence[side.clock];
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

  std::vector<Meeting> meetings_;
  std::vector<std::optional<TimeNs>> zeros_;
  std::vector<ClockShift> shifts_;
  std::vector<bool> done_;
};

}  // namespace

ClockShift::ClockShift(std::vector<Knot> knots, TimeNs error, bool by_mpi)
    : knots_(std::move(knots)), error_(error), by_mpi_(by_mpi) {
  for (std::size_t i = 1; i < knots_.size(); ++i) {
    knots_[i].shift = std::max(knots_[i].shift, knots_[i - 1].shift - (knots_[i].at - knots_[i - 1].at));
  }
}

TimeNs ClockShift::at(TimeNs time) const {
  if (knots_.empty()) return 0;
  const auto next =
      std::partition_point(knots_.begin(), knots_.end(), [&](const Knot& knot) { return knot.at <= time; });
  if (next == knots_.begin()) return next->shift;
  const Knot& before = *std::prev(next);
  if (next == knots_.end()) return before.shift;
  const double share = static_cast<double>(time - before.at) / static_cast<double>(next->at - before.at);
  return before.shift + std::llround(share * static_cast<double>(next->shift - before.shift));
}

RankClocks rank_clocks(const std::vector<TraceModel>& traces) {
  const std::vector<Presence> all = presences(traces);
  RankClocks clocks;
  clocks.clock = clocks_of(traces, all);
  const std::size_t count = std::size_t{1} + *std::max_element(clocks.clock.begin(), clocks.clock.end());
  std::vector<std::optional<TimeNs>> zeros(count);
  for (std::size_t i = traces.size(); i-- > 0;) zeros[clocks.clock[i]] = zero_of_clock(traces[i]);
  clocks.shifts = Alignment(meetings_of_clocks(all, clocks.clock), count, std::move(zeros)).run();
  return clocks;
}

}  // namespace wicprof::analyzer
