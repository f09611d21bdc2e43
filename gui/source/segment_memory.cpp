#include "gui/source/segment_memory.h"

#include <algorithm>
#include <tuple>

#include "analyzer/compare/timed_units.h"
#include "analyzer/measure/statistics.h"

namespace wicprof::gui {

using analyzer::Iteration;
using analyzer::Segment;

namespace {

// Bounds of the memory for a program that runs for days. Not calibrated.
constexpr std::size_t kMaxIterations = 4'096;  // per segment and place
constexpr std::size_t kMaxSegments = 100;

TimeNs length_seen(const SegmentLine& line) { return line.seen_end - line.seen_begin; }

}  // namespace

void SegmentMemory::Iterations::add(const Iteration& iteration) {
  end = iteration.end;
  if (seen++ % step != 0) return;
  list.push_back(iteration);
  if (list.size() < kMaxIterations) return;
  for (std::size_t i = 0; 2 * i < list.size(); ++i) list[i] = list[2 * i];
  list.resize((list.size() + 1) / 2);
  step *= 2;
}

std::size_t SegmentMemory::Seen::at(Place place) const {
  const auto found = places.find(place);
  return found == places.end() ? 0 : found->second.seen;
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
  const std::vector<analyzer::Iterations> units = analyzer::find_iterations(model);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.end_ns <= known_from) continue;  // none of its rows are left
    Seen& seen = segments_[key_of(segments, i)];
    SegmentLine line = line_of(model, segment, known_from);
    const TimeNs begin = seen.line.end == 0 ? line.begin : std::min(seen.line.begin, line.begin);
    if (length_seen(line) >= length_seen(seen.line)) seen.line = std::move(line);
    seen.line.begin = begin;
    for (const analyzer::Iterations& unit : units) {
      Iterations& to = seen.places[{unit.site, unit.device}];
      to.place = analyzer::place_of(model, unit);
      const TimeNs from = std::max({segment.begin_ns, known_from, to.end});
      for (const Iteration& iteration : unit.list) {
        // Skips the first known iteration: earlier arrivals may be missing, so it may seem too short.
        if (known_from > 0 && &iteration == &unit.list.front() && iteration.begin != to.end) continue;
        if (iteration.begin >= from && iteration.end <= segment.end_ns) to.add(iteration);
      }
    }
  }
  while (segments_.size() > kMaxSegments) segments_.erase(segments_.begin());
}

std::optional<SegmentMemory::Place> SegmentMemory::best_place(const std::vector<Segment>& segments) const {
  std::map<Place, std::size_t> all;
  for (const auto& [begin, seen] : segments_) {
    for (const auto& [place, iterations] : seen.places) all[place] += iterations.seen;
  }
  const auto fewest = [&](Place place) {
    std::size_t count = ~std::size_t{0};
    for (std::size_t i = segments.size() - std::min<std::size_t>(segments.size(), 2); i < segments.size(); ++i) {
      const Seen* seen = find(segments, i);
      count = std::min(count, seen == nullptr ? 0 : seen->at(place));
    }
    return count;
  };
  const auto best = std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return std::tuple(fewest(a.first), a.second) < std::tuple(fewest(b.first), b.second);
  });
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
        comparison.measured_at = found->second.place;
        analyzer::fill(segment, found->second.list, comparison.means);
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
