#include "analyzer/compare/energy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace wicprof::analyzer {

std::optional<double> MeterReadings::watts(TimeNs begin, TimeNs end) const {
  const auto earlier = [](const EnergyReading& reading, TimeNs time) { return reading.at < time; };
  const auto first = std::lower_bound(readings.begin(), readings.end(), begin + kPowerSettles, earlier);
  const auto after = std::lower_bound(readings.begin(), readings.end(), end, earlier);
  if (after - first < 2) return std::nullopt;
  const EnergyReading& last = *std::prev(after);
  if (last.at - first->at < kShortestPower) return std::nullopt;
  return (last.joules - first->joules) / (static_cast<double>(last.at - first->at) / kSecond);
}

std::vector<MeterReadings> energy_meters(const TraceModel& model) {
  std::vector<MeterReadings> meters;
  std::map<std::string_view, std::size_t> numbers;
  for (const store::EnergyRow& row : model.energy) {
    const auto [number, is_new] = numbers.try_emplace(row.meter.text(), meters.size());
    if (is_new) meters.push_back({row.meter.text(), {}});
    meters[number->second].readings.push_back({row.at, static_cast<double>(row.energy_uj) / 1e6});
  }
  return meters;
}

namespace {

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

void add_modes(const MeterReadings& readings, const std::vector<Segment>& segments, EnergyUse& to) {
  std::vector<Unit> units;
  Mean poll, park, poll_joules, park_joules;
  for (const Segment& segment : segments) {
    if (!segment.apart.empty()) continue;
    const bool parks = segment.mode == Mode::park;
    if (!parks) to.poll_time += segment.end_ns - segment.begin_ns;
    const std::optional<double> watts = readings.watts(segment.begin_ns, segment.end_ns);
    if (!watts || *watts <= 0) continue;
    (parks ? park : poll).add(*watts);
    ++(parks ? to.park_segments : to.poll_segments);
    if (segment.iteration_ns_p50) {
      (parks ? park_joules : poll_joules).add(*watts * static_cast<double>(*segment.iteration_ns_p50) / kSecond);
    }
    units.push_back({parks, (segment.begin_ns + segment.end_ns) / 2, segment.block, std::log(*watts)});
  }
  to.poll_watts = poll.value();
  to.park_watts = park.value();
  to.poll_joules_per_iteration = poll_joules.value();
  to.park_joules_per_iteration = park_joules.value();
  if (to.poll_segments == 0 || to.park_segments == 0) return;
  to.ratio = unit_ratio(units, {true, kPowerSpread, false, false}).speedup;
}

}  // namespace

std::vector<EnergyUse> energy_use(const TraceModel& model, const std::vector<Segment>& segments) {
  std::vector<EnergyUse> uses;
  for (const MeterReadings& meter : energy_meters(model)) {
    EnergyUse& use = uses.emplace_back();
    use.meter = meter.meter;
    use.time = meter.readings.back().at - meter.readings.front().at;
    use.joules = meter.readings.back().joules - meter.readings.front().joules;
    add_modes(meter, segments, use);
    use.sites = site_energy(model, segments, meter);
  }
  return uses;
}

namespace {

Estimate less(const Estimate& after, const Estimate& before) {
  const double more = after.value - before.value;
  return {more, more - std::hypot(after.value - after.low, before.high - before.value),
          more + std::hypot(after.high - after.value, before.value - before.low)};
}

PollingEnergy less(const PollingEnergy& after, const PollingEnergy& before) {
  PollingEnergy more{less(after.watts, before.watts), std::nullopt};
  if (after.joules_per_iteration && before.joules_per_iteration)
    more.joules_per_iteration = less(*after.joules_per_iteration, *before.joules_per_iteration);
  return more;
}

}  // namespace

std::vector<SiteEnergyDifference> site_energy_differences(const std::vector<EnergyUse>& before,
                                                          const std::vector<EnergyUse>* after) {
  std::vector<SiteEnergyDifference> all;
  const auto row_of = [&](const std::string& meter, const std::string& site) -> SiteEnergyDifference& {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.meter == meter && row.site == site; });
    return found != all.end() ? *found : all.emplace_back(SiteEnergyDifference{meter, site, {}, {}, {}});
  };
  for (const EnergyUse& use : before) {
    for (const SiteEnergy& site : use.sites) row_of(use.meter, site.site).before = site.polling;
  }
  for (SiteEnergyDifference& row : all) {
    if (after == nullptr)
      row.after = {Estimate{}, row.before->joules_per_iteration ? std::optional(Estimate{}) : std::nullopt};
  }
  if (after != nullptr) {
    for (const EnergyUse& use : *after) {
      for (const SiteEnergy& site : use.sites) row_of(use.meter, site.site).after = site.polling;
    }
  }
  for (SiteEnergyDifference& row : all) {
    const bool same_sites = after == nullptr || !row.site.empty();
    if (row.before && row.after && same_sites) row.more = less(*row.after, *row.before);
  }
  return all;
}

}  // namespace wicprof::analyzer
