#include "analyzer/compare/energy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace wicprof::analyzer {

namespace {

/// Between two equal phases of a program. Not calibrated: it counts where there are too few segments for an interval.
constexpr double kPowerSpread = 1.2;

struct Reading {
  TimeNs at = 0;
  double joules = 0;
};

double watts_between(const Reading& first, const Reading& last) {
  return (last.joules - first.joules) / (static_cast<double>(last.at - first.at) / kSecond);
}

/// The power in a segment, by its first and last readings.
std::optional<double> power_in(const std::vector<Reading>& readings, const Segment& segment) {
  const auto at = [](const Reading& reading, TimeNs time) { return reading.at < time; };
  const auto first = std::lower_bound(readings.begin(), readings.end(), segment.begin_ns + kPowerSettles, at);
  const auto end = std::lower_bound(readings.begin(), readings.end(), segment.end_ns, at);
  if (end - first < 2 || std::prev(end)->at - first->at < kShortestPower) return std::nullopt;
  return watts_between(*first, *std::prev(end));
}

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

void add_modes(const std::vector<Reading>& readings, const std::vector<Segment>& segments, EnergyUse& to) {
  std::vector<Unit> units;
  Mean poll, park, poll_joules, park_joules;
  for (const Segment& segment : segments) {
    if (!segment.apart.empty()) continue;
    const bool parks = segment.mode == Mode::park;
    if (!parks) to.poll_time += segment.end_ns - segment.begin_ns;
    const std::optional<double> watts = power_in(readings, segment);
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
  std::vector<std::string_view> order;
  std::map<std::string_view, std::vector<Reading>> meters;
  for (const store::EnergyRow& row : model.energy) {
    std::vector<Reading>& readings = meters[row.meter.text()];
    if (readings.empty()) order.push_back(row.meter.text());
    readings.push_back({row.at, static_cast<double>(row.energy_uj) / 1e6});
  }
  std::vector<EnergyUse> uses;
  for (const std::string_view meter : order) {
    const std::vector<Reading>& readings = meters[meter];
    EnergyUse& use = uses.emplace_back();
    use.meter = meter;
    use.time = readings.back().at - readings.front().at;
    use.joules = readings.back().joules - readings.front().joules;
    add_modes(readings, segments, use);
  }
  return uses;
}

}  // namespace wicprof::analyzer
