#include "analyzer/compare/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/measure/statistics.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

std::vector<store::InterventionRow> cuts_of(const TraceModel& model, std::vector<std::string>& notes) {
  std::vector<store::InterventionRow> whole;
  std::map<SiteId, std::vector<store::InterventionRow>> by_site;
  for (const store::InterventionRow& row : model.interventions) {
    const bool changes = row.old_mode != row.new_mode || row.old_strategy != row.new_strategy;
    if (!changes) continue;
    (row.site == 0 ? whole : by_site[row.site]).push_back(row);
  }
  if (by_site.empty()) return whole;
  const auto most = std::max_element(by_site.begin(), by_site.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (whole.empty()) {
    notes.push_back(fmt::format("only {} was switched; the other sites did not change", model.site_name(most->first)));
    return most->second;
  }
  std::size_t others = 0;
  for (const auto& [site, rows] : by_site) others += rows.size();
  notes.push_back(fmt::format("the segments ignore {} at single sites", count_of(others, "intervention")));
  return whole;
}

}  // namespace

std::vector<Segment> find_segments(const TraceModel& model, std::vector<std::string>& notes) {
  const std::vector<store::InterventionRow> cuts = cuts_of(model, notes);
  std::vector<Segment> segments;
  Segment current;
  current.trace = model.name;
  current.begin_ns = model.begin;
  if (cuts.empty()) {
    current.mode = mode_from_name(model.meta_value("mode")).value_or(Mode::poll);
    current.strategy = default_strategy(current.mode);
  } else {
    current.begin_ns = std::min(model.begin, cuts.front().requested);  // the earlier rows may be missing
    current.mode = cuts.front().old_mode;
    current.strategy = cuts.front().old_strategy;
  }
  for (const store::InterventionRow& cut : cuts) {
    current.end_ns = std::max(current.begin_ns, cut.requested);
    segments.push_back(current);
    current.begin_ns = cut.effective;
    current.mode = cut.new_mode;
    current.strategy = cut.new_strategy;
  }
  current.end_ns = std::max(current.begin_ns, model.end);
  segments.push_back(current);
  return segments;
}

void fill(Segment& segment, const std::vector<Iteration>& iterations) {
  for (const Iteration& iteration : iterations) {
    if (iteration.begin >= segment.begin_ns && iteration.end <= segment.end_ns) segment.iterations.push_back(iteration);
  }
  if (!segment.iterations.empty()) segment.iteration_ns_p50 = percentile(durations(segment.iterations), 50);
}

std::vector<TimeNs> durations(const std::vector<Iteration>& iterations) {
  std::vector<TimeNs> list;
  list.reserve(iterations.size());
  for (const Iteration& iteration : iterations) list.push_back(iteration.duration());
  return list;
}

}  // namespace wicprof::analyzer
