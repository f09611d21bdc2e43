#include "gui/source/segment_memory.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>

#include "analyzer/measure/statistics.h"

namespace wicprof::gui {

using analyzer::Iteration;
using analyzer::Segment;
using analyzer::UnitSource;

namespace {

// Bounds of the memory for a program that runs for days. Not calibrated.
constexpr std::size_t kRemembered = 4'096;  // per segment and place
constexpr std::size_t kMaxSegments = 100;
constexpr std::size_t kMaxPlaces = 8;  // per segment and source

TimeNs length_seen(const SegmentLine& line) { return line.seen_end - line.seen_begin; }

}  // namespace

void SegmentMemory::Iterations::add(const std::vector<Iteration>& observed, TimeNs from, TimeNs until, bool whole) {
  if (!whole && observed.front().begin != last.end) from = std::max(from, observed.front().end);
  // Runs and numbers may begin anew with the first row that is left: they go on from the iteration that was last, where
  // it is among the observed ones.
  const auto same = std::lower_bound(observed.begin(), observed.end(), last.begin,
                                     [](const Iteration& each, TimeNs begin) { return each.begin < begin; });
  const bool goes_on = seen > 0 && same != observed.end() && same->begin == last.begin;
  const std::uint32_t runs = goes_on ? last.run - same->run : last.run + 1 - observed.front().run;
  const std::uint32_t numbers = goes_on ? last.number - same->number : 0;
  for (Iteration iteration : observed) {
    if (iteration.begin < std::max(from, last.end) || iteration.end > until) continue;
    iteration.run += runs;
    iteration.number += numbers;
    last = iteration;
    if (seen++ % step != 0) continue;
    list.push_back(iteration);
    if (list.size() < kRemembered) continue;
    for (std::size_t i = 0; 2 * i < list.size(); ++i) list[i] = list[2 * i];
    list.resize((list.size() + 1) / 2);
    step *= 2;
  }
}

std::size_t SegmentMemory::Seen::at(const Place& place) const {
  const auto found = places.find(place);
  return found == places.end() ? 0 : found->second.seen;
}

SegmentMemory::Iterations* SegmentMemory::Seen::place(const Place& place) {
  const auto of_source = std::count_if(places.begin(), places.end(), [&](const auto& each) {
    return std::get<UnitSource>(each.first) == std::get<UnitSource>(place);
  });
  const bool is_new = !places.contains(place);
  return is_new && static_cast<std::size_t>(of_source) >= kMaxPlaces ? nullptr : &places[place];
}

TimeNs SegmentMemory::key_of(const std::vector<Segment>& segments, std::size_t index) {
  return index == 0 ? 0 : segments[index].begin_ns;
}

const SegmentMemory::Seen* SegmentMemory::find(const std::vector<Segment>& segments, std::size_t index) const {
  const auto found = segments_.find(key_of(segments, index));
  return found == segments_.end() ? nullptr : &found->second;
}

void SegmentMemory::observe(const analyzer::TraceModel& model, TimeNs known_from) {
  std::vector<std::string> notes;
  const std::vector<Segment> segments = analyzer::find_segments(model, notes);
  std::vector<Segment> left;
  std::copy_if(segments.begin(), segments.end(), std::back_inserter(left),
               [&](const Segment& segment) { return segment.end_ns > known_from; });
  const analyzer::TimedUnits units = analyzer::find_units(model, {}, left);
  const bool ranked = units.source != UnitSource::iterations && units.source != UnitSource::calls;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.end_ns <= known_from) continue;
    Seen& seen = segments_[key_of(segments, i)];
    SegmentLine line = line_of(model, segment, known_from);
    const TimeNs begin = seen.line.end == 0 ? line.begin : std::min(seen.line.begin, line.begin);
    if (length_seen(line) >= length_seen(seen.line)) seen.line = std::move(line);
    seen.line.begin = begin;
    for (std::size_t rank = 0; rank < units.candidates.size(); ++rank) {
      const analyzer::Iterations& unit = units.candidates[rank];
      Iterations* const to = seen.place({units.source, unit.site, unit.device, unit.site_name});
      if (to == nullptr) continue;
      to->measured_at = analyzer::place_of(model, unit);
      to->timed = units.why;
      to->rank = ranked ? rank : 0;
      // Earlier arrivals may be missing, so the first known iteration may seem too short.
      to->add(unit.list, std::max(segment.begin_ns, known_from), segment.end_ns, known_from == 0);
    }
  }
  while (segments_.size() > kMaxSegments) segments_.erase(segments_.begin());
}

std::optional<SegmentMemory::Place> SegmentMemory::best_place(const std::vector<Segment>& segments) const {
  struct Sum {
    std::size_t seen = 0, rank = 0;
  };
  std::map<Place, Sum> all;
  for (const auto& [begin, seen] : segments_) {
    for (const auto& [place, iterations] : seen.places) {
      Sum& sum = all[place];
      sum = {sum.seen + iterations.seen, iterations.rank};
    }
  }
  const auto fewest = [&](const Place& place) {
    std::size_t count = ~std::size_t{0};
    for (std::size_t i = segments.size() - std::min<std::size_t>(segments.size(), 2); i < segments.size(); ++i) {
      const Seen* seen = find(segments, i);
      count = std::min(count, seen == nullptr ? 0 : seen->at(place));
    }
    return count;
  };
  const auto worth = [&](const auto& entry) {
    const auto& [place, sum] = entry;
    const std::size_t least = fewest(place);
    return std::tuple(least >= analyzer::kFewestInSegment, -static_cast<int>(std::get<UnitSource>(place)),
                      -static_cast<std::ptrdiff_t>(sum.rank), least, sum.seen);
  };
  const auto best =
      std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
  return best == all.end() ? std::nullopt : std::optional(best->first);
}

void SegmentMemory::complete(analyzer::Comparison& comparison, BeforeAfter& values) const {
  const std::optional<Place> place = best_place(comparison.segments);
  if (!place) return;
  for (std::size_t i = 0; i < comparison.segments.size(); ++i) {
    Segment& segment = comparison.segments[i];
    segment.iterations.clear();
    segment.iteration_ns_p50.reset();
    SegmentLine& line = values.segments[i];
    const Seen* seen = find(comparison.segments, i);
    if (seen != nullptr) {
      segment.begin_ns = seen->line.begin;
      if (const auto found = seen->places.find(*place); found != seen->places.end()) {
        comparison.measured_at = found->second.measured_at;
        comparison.timed = found->second.timed;
        analyzer::fill(segment, found->second.list, comparison.typical);
      }
      const TimeNs end = line.end;
      line = seen->line;
      line.end = end;
    }
    line.iterations = seen == nullptr ? 0 : seen->at(*place);
    line.iteration_p50 = segment.iteration_ns_p50;
  }
  values.measured_at = comparison.measured_at;
  if (comparison.segments.size() < 2) return;
  analyzer::conclude(comparison);  // over the phases whose rows are gone, too
  choose_effect(values, comparison);
}

}  // namespace wicprof::gui
