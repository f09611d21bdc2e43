#include "analyzer/trace/modes.h"

#include <algorithm>

namespace wicprof::analyzer {

Modes::Modes(const TraceModel& model) : begin_(model.begin), end_(model.end) {
  first_ = mode_from_name(model.meta_value("mode")).value_or(Mode::poll);
  for (const store::InterventionRow& row : model.interventions) {
    if (row.site == 0) {
      first_ = row.old_mode;
      break;
    }
  }
  changes_[0];
  for (const store::InterventionRow& row : model.interventions) {
    if (row.site != 0) changes_[row.site];
  }
  for (const store::InterventionRow& row : model.interventions) {
    const Change change{row.requested, row.effective, row.new_mode};
    if (row.site != 0) {
      changes_[row.site].push_back(change);
    } else {
      for (auto& [site, changes] : changes_) changes.push_back(change);  // applies to every site
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
