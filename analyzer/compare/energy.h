// What a program's way of waiting takes in energy, from the readings of meters while the modes change in turn.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/segments.h"
#include "analyzer/compare/site_energy.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/measure/unit_ratio.h"
#include "analyzer/trace/trace_model.h"
#include "protocol/time.h"

namespace wicprof::analyzer {

/// A part of a mode's time is left out after each change: a GPU takes a moment to another power, and so does its meter.
/// Not calibrated.
inline constexpr TimeNs kPowerSettles = kSecond / 2;
/// Less time between two readings says little of a power: a GPU's counter moves every 100 ms, and its step is known to
/// some 5 ms.
inline constexpr TimeNs kShortestPower = kSecond;

/// The largest ratio of the powers of two equal phases or runs. Not calibrated: it counts where there are too few for
/// an interval.
inline constexpr double kPowerSpread = 1.2;

struct EnergyReading {
  TimeNs at = 0;
  double joules = 0;
};

/// The readings of one meter in order.
struct MeterReadings {
  std::string meter;
  std::vector<EnergyReading> readings;

  /// The mean power from `begin` to `end`, by the first reading after kPowerSettles and the last one. Nothing where
  /// these are less than kShortestPower apart.
  std::optional<double> watts(TimeNs begin, TimeNs end) const;
};
/// In the order of the first readings; empty: no energy was recorded.
std::vector<MeterReadings> energy_meters(const TraceModel& model);

/// One meter: a GPU, or a processor's package. All of its power counts, also what others use.
struct EnergyUse {
  std::string meter;
  TimeNs time = 0;                               ///< from the first reading to the last one
  double joules = 0;                             ///< in that time
  std::optional<double> poll_watts, park_watts;  ///< means over the segments of each mode that are long enough
  std::size_t poll_segments = 0, park_segments = 0;
  /// The power while polling over that while parked, with its 95 % interval (unit_ratio() over the segments). Nothing
  /// without segments of both modes.
  std::optional<Speedup> ratio;
  TimeNs poll_time = 0;  ///< of all segments in which the program polls
  /// Energy per iteration, while iterations are known: the means of the power times the iteration's typical time.
  std::optional<double> poll_joules_per_iteration, park_joules_per_iteration;
  std::vector<SiteEnergy> sites;

  double watts() const { return time > 0 ? joules / (static_cast<double>(time) / kSecond) : 0; }
  /// Whether the interval tells the modes apart.
  bool is_resolved() const { return ratio && (ratio->low > 1 || ratio->high < 1); }
  /// What polling takes more than parking: the value, and the ends of its interval. Only with a ratio.
  double more_watts() const { return *park_watts * (ratio->value - 1); }
  double least_watts() const { return *park_watts * (ratio->low - 1); }
  double most_watts() const { return *park_watts * (ratio->high - 1); }
  /// What polling took in this trace beyond what parking would have taken.
  double polling_joules() const { return more_watts() * static_cast<double>(poll_time) / kSecond; }
};

/// In the order of the first readings; empty: no energy was recorded. `segments`: those of find_segments(), filled with
/// iterations where these are known. A segment counts where its readings after kPowerSettles span kShortestPower, and
/// if no site waited apart from the rest.
std::vector<EnergyUse> energy_use(const TraceModel& model, const std::vector<Segment>& segments);

/// Of two traces, or of one: `after` is nullptr, and the sites park after, which is what polling is measured against.
/// In order of the meters and sites before, those after alone last. The interval of a difference is that of two
/// independent estimates (MOVER; Zou, Donner: Construction of confidence limits about effect measures, 2008).
std::vector<SiteEnergyDifference> site_energy_differences(const std::vector<EnergyUse>& before,
                                                          const std::vector<EnergyUse>* after);

}  // namespace wicprof::analyzer
