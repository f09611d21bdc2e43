#include "analyzer/compare/segments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/modes.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

bool changes(const store::InterventionRow& row) {
  return row.old_mode != row.new_mode || row.old_strategy != row.new_strategy;
}

/// The site whose interventions cut the trace; 0: those on the whole program do.
SiteId site_of_cuts(const TraceModel& model, std::vector<std::string>& notes) {
  std::map<SiteId, std::size_t> by_site;
  for (const store::InterventionRow& row : program_interventions(model)) {
    if (!changes(row)) continue;
    if (row.site == 0) return 0;
    ++by_site[row.site];
  }
  if (by_site.empty()) return 0;
  const auto most = std::max_element(by_site.begin(), by_site.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  notes.push_back(
      by_site.size() == 1
          ? fmt::format("only {} was switched; the other sites did not change", model.site_name(most->first))
          : fmt::format("sites were switched one by one; the comparison is that of {}, which was switched "
                        "most often",
                        model.site_name(most->first)));
  return most->first;
}

/// Follows the sites that wait otherwise than the rest.
class Apart {
 public:
  explicit Apart(SiteId site_of_cuts) : site_of_cuts_(site_of_cuts) {}

  /// `mode` and `strategy`: those of the segment at that time. False: nothing changes.
  bool follow(const store::InterventionRow& row, const Segment& segment) {
    const std::map<SiteId, Way> before = ways_;
    if (row.site == 0) {
      ways_.clear();  // a change of the whole program applies to every site
    } else {
      // Where a site's changes cut the trace, other sites are apart from where they began.
      const auto [begin, is_new] = first_.try_emplace(row.site, Way{row.old_mode, row.old_strategy});
      const Way rest = site_of_cuts_ == 0 ? Way{segment.mode, segment.strategy} : begin->second;
      const Way now{row.new_mode, row.new_strategy};
      if (now == rest) {
        ways_.erase(row.site);
      } else {
        ways_[row.site] = now;
      }
    }
    return ways_ != before;
  }

  std::vector<std::string> names(const TraceModel& model) const {
    std::vector<std::string> names;
    for (const auto& [site, way] : ways_) names.push_back(model.site_name(site));
    return names;
  }

 private:
  using Way = std::pair<Mode, StrategyId>;
  SiteId site_of_cuts_;
  std::map<SiteId, Way> first_, ways_;
};

Segment first_segment(const TraceModel& model, SiteId site) {
  Segment first;
  first.trace = model.name;
  first.begin_ns = model.begin;
  first.mode = mode_from_name(model.meta_value(store::MetaKey::mode)).value_or(Mode::poll);
  first.strategy = default_strategy(first.mode);
  for (const store::InterventionRow& row : program_interventions(model)) {
    if (row.site != site || !changes(row)) continue;
    first.begin_ns = std::min(model.begin, row.requested);  // the earlier rows may be missing
    first.mode = row.old_mode;
    first.strategy = row.old_strategy;
    break;
  }
  return first;
}

void note_apart(const std::vector<Segment>& segments, std::vector<std::string>& notes) {
  const auto left_out =
      std::count_if(segments.begin(), segments.end(), [](const Segment& segment) { return !segment.apart.empty(); });
  if (left_out == 0) return;
  std::set<std::string> names;
  for (const Segment& segment : segments) names.insert(segment.apart.begin(), segment.apart.end());
  notes.push_back(fmt::format("{} left out, since {} waited in another way than the rest of the program there",
                              left_out == 1 ? "1 segment is" : fmt::format("{} segments are", left_out),
                              fmt::join(names, " and ")));
}

/// One phase as meta's ab_phases writes it: MODE:BEGIN_NS:END_NS. Nothing if the text is damaged.
std::optional<Segment> phase_of(std::string_view text) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const std::optional<Mode> mode = mode_from_name(text.substr(0, first));
  Segment phase;
  const auto read = [](std::string_view digits, TimeNs& to) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), to);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (!mode || !read(text.substr(first + 1, second - first - 1), phase.begin_ns) ||
      !read(text.substr(second + 1), phase.end_ns) || phase.end_ns <= phase.begin_ns) {
    return std::nullopt;
  }
  phase.mode = *mode;
  return phase;
}

std::vector<Segment> phases_of_schedule(const TraceModel& model) {
  const std::string text = model.meta_value(store::MetaKey::ab_phases);
  // A strategy that the interventions name; the schedule has one for all of its parked phases.
  StrategyId parked = default_strategy(Mode::park);
  for (const store::InterventionRow& row : program_interventions(model)) {
    if (row.site == 0 && row.new_mode == Mode::park) parked = row.new_strategy;
  }
  std::vector<Segment> phases;
  for (std::size_t begin = 0, index = 0; begin < text.size(); ++index) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    std::optional<Segment> phase = phase_of(std::string_view(text).substr(begin, comma - begin));
    begin = comma + 1;
    if (!phase || (!phases.empty() && phase->begin_ns < phases.back().end_ns)) continue;
    phase->trace = model.name;
    phase->strategy = phase->mode == Mode::park ? parked : default_strategy(Mode::poll);
    phase->block = static_cast<std::uint32_t>(index / 2);
    phases.push_back(*std::move(phase));
  }
  return phases;
}

/// Sets apart what single sites did during the phases.
void follow_sites(const TraceModel& model, std::vector<Segment>& phases) {
  for (const store::InterventionRow& row : program_interventions(model)) {
    if (row.site == 0 || !changes(row)) continue;
    for (Segment& phase : phases) {
      const bool within = row.requested < phase.end_ns && row.effective > phase.begin_ns;
      if (within) phase.apart.push_back(model.site_name(row.site));
    }
  }
}

}  // namespace

std::vector<Segment> find_segments(const TraceModel& model, std::vector<std::string>& notes) {
  std::vector<Segment> segments = phases_of_schedule(model);
  if (!segments.empty()) {
    follow_sites(model, segments);
    note_apart(segments, notes);
    return segments;
  }
  const SiteId site = site_of_cuts(model, notes);
  Segment current = first_segment(model, site);
  Apart apart(site);
  for (const store::InterventionRow& row : program_interventions(model)) {
    const bool cuts = row.site == site && changes(row);
    if (!changes(row) && row.site != 0) continue;
    Segment next = current;
    if (cuts) {
      next.mode = row.new_mode;
      next.strategy = row.new_strategy;
    }
    const bool follows = (cuts && site != 0) ? false : apart.follow(row, next);
    if (!cuts && !follows) continue;
    current.end_ns = std::max(current.begin_ns, row.requested);
    segments.push_back(current);
    current = std::move(next);
    current.begin_ns = row.effective;
    current.apart = apart.names(model);
  }
  current.end_ns = std::max(current.begin_ns, model.end);
  segments.push_back(current);
  note_apart(segments, notes);
  return segments;
}

void fill(Segment& segment, const std::vector<Iteration>& iterations, TypicalTime typical) {
  for (const Iteration& iteration : iterations) {
    if (iteration.begin >= segment.begin_ns && iteration.end <= segment.end_ns) segment.iterations.push_back(iteration);
  }
  if (segment.iterations.empty()) return;
  segment.iteration_ns_p50 = typical == TypicalTime::median ? percentile(durations(segment.iterations), 50)
                                                            : std::llround(typical_time(segment.iterations, typical));
}

}  // namespace wicprof::analyzer
