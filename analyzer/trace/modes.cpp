#include "analyzer/trace/modes.h"

#include <algorithm>
#include <set>

#include "protocol/trace_words.h"

namespace wicprof::analyzer {

namespace {

bool of_host(const store::InterventionRow& row) { return row.site == 0 && row.side == WaitSide::host; }

}  // namespace

std::vector<store::InterventionRow> program_interventions(const TraceModel& model) {
  const bool others = std::any_of(model.interventions.begin(), model.interventions.end(),
                                  [](const auto& row) { return row.site == 0 && !of_host(row); });
  std::vector<store::InterventionRow> rows;
  for (const store::InterventionRow& row : model.interventions) {
    if (!others || !of_host(row)) rows.push_back(row);
  }
  return rows;
}

bool changes_hosts_only(const TraceModel& model) {
  return !model.interventions.empty() && std::all_of(model.interventions.begin(), model.interventions.end(),
                                                     [](const auto& row) { return of_host(row); });
}

bool is_patched(const TraceModel& model) { return !model.meta_value(store::MetaKey::rewrite).empty(); }

Modes::Modes(const TraceModel& model) : begin_(model.begin), end_(model.end) {
  first_ = mode_from_name(model.meta_value(store::MetaKey::mode)).value_or(Mode::poll);
  const std::vector<store::InterventionRow> rows = program_interventions(model);
  for (const store::InterventionRow& row : rows) {
    if (row.site == 0) {
      first_ = row.old_mode;
      break;
    }
  }
  changes_[0];
  for (const store::InterventionRow& row : rows) {
    if (row.site != 0) changes_[row.site];
  }
  // Places in calls of CUDA follow the changes of host threads where a trace has both kinds.
  std::set<SiteId> calls;
  if (rows.size() != model.interventions.size()) {
    for (const store::SiteRow& site : model.sites) {
      if (site.side == SiteSide::host) calls.insert(site.id);
    }
    for (const SiteId site : calls) changes_[site];
  }
  for (const store::InterventionRow& row : model.interventions) {
    const Change change{row.requested, row.effective, row.new_mode};
    if (row.site != 0) {
      changes_[row.site].push_back(change);
      continue;
    }
    for (auto& [site, changes] : changes_) {  // applies to every site of its side
      if (calls.empty() || calls.contains(site) == of_host(row)) changes.push_back(change);
    }
  }
}

const std::vector<Modes::Change>& Modes::changes_of(SiteId site) const {
  const auto own = changes_.find(site);
  return own == changes_.end() ? changes_.at(0) : own->second;
}

Mode Modes::at(SiteId site, TimeNs time) const {
  const std::vector<Change>& changes = changes_of(site);
  const auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                      [](TimeNs t, const Change& change) { return t < change.effective; });
  return after == changes.begin() ? first_ : std::prev(after)->mode;
}

std::vector<Interval> Modes::when(SiteId site, Mode mode) const {
  std::vector<Interval> list;
  TimeNs from = begin_;
  Mode now = first_;
  const auto close = [&](TimeNs upto) {
    if (now == mode && upto > from) list.push_back({from, upto});
  };
  for (const Change& change : changes_of(site)) {
    close(std::min(change.requested, end_));
    from = std::max(change.effective, begin_);
    now = change.mode;
  }
  close(end_);
  return list;
}

bool Modes::both() const {
  for (const auto& [site, changes] : changes_) {
    if (!when(site, Mode::poll).empty() && !when(site, Mode::park).empty()) return true;
  }
  return false;
}

}  // namespace wicprof::analyzer
