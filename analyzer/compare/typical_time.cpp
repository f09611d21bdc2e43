#include "analyzer/compare/typical_time.h"

#include <algorithm>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

TypicalTime typical_time_of(const TraceModel& model) {
  const bool scheduled = !model.meta_value(store::MetaKey::ab_phases).empty();
  const TimeNs worth_it = (model.end - model.begin) / 100;
  const bool stopped = scheduled ? !model.meta_value(store::MetaKey::ab_quota_period_ns).empty()
                                 : std::any_of(model.stats.begin(), model.stats.end(), [&](const store::StatRow& row) {
                                     return row.name == "throttled_ns" && row.value > worth_it;
                                   });
  return stopped ? TypicalTime::per_time : TypicalTime::median;
}

namespace {

/// From the begin of one iteration to the begin of the next one: what lies between two ranges counts, too.
double time_per_iteration(const std::vector<Iteration>& list) {
  double time = 0, count = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool followed = i + 1 < list.size() && list[i + 1].run == list[i].run && list[i + 1].number > list[i].number;
    time += static_cast<double>(followed ? list[i + 1].begin - list[i].begin : list[i].duration());
    count += followed ? list[i + 1].number - list[i].number : 1;
  }
  return time / count;
}

}  // namespace

double typical_time(const std::vector<Iteration>& iterations, TypicalTime typical) {
  return typical == TypicalTime::median ? median_between_ticks(durations(iterations)) : time_per_iteration(iterations);
}

std::vector<TimeNs> durations(const std::vector<Iteration>& iterations) {
  std::vector<TimeNs> list;
  list.reserve(iterations.size());
  for (const Iteration& iteration : iterations) list.push_back(iteration.duration());
  return list;
}

}  // namespace wicprof::analyzer
