#include "cli/record/auto_figures.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "analyzer/measure/statistics.h"
#include "analyzer/measure/unit_ratio.h"

namespace wicprof::cli {

void AutoFigures::add(const AutoPhase& one, const AutoPhase& other) {
  const AutoPhase& polled = one.mode == Mode::poll ? one : other;
  const AutoPhase& parked = one.mode == Mode::poll ? other : one;
  if (polled.log_time <= 0 || parked.log_time <= 0 || polled.cut) return;
  differences_.push_back(polled.log_time - parked.log_time);
  for (const auto& [side, phase] : {std::pair(&polled_, &polled), std::pair(&parked_, &parked)}) {
    side->logs.push_back(phase->log_time);
    std::vector<TimeNs>& units = side->units;
    units.insert(units.end(), phase->units.begin(), phase->units.end());
    if (units.size() > kMostUnits) units.erase(units.begin(), units.end() - kMostUnits / 2);
  }
}

std::optional<analyzer::Speedup> AutoFigures::ratio(double miss) const {
  if (blocks() < analyzer::kFewestBlocks) return std::nullopt;
  std::vector<analyzer::Unit> units;
  for (std::size_t i = 0; i < blocks(); ++i) {
    const auto block = static_cast<std::uint32_t>(i);
    units.push_back({false, 0, block, polled_.logs[i]});
    units.push_back({true, 0, block, parked_.logs[i]});
  }
  analyzer::UnitDesign design;
  design.phases = design.may_stop = design.stopped = true;
  design.miss_at_looks = miss;
  const analyzer::UnitRatio ratio = analyzer::unit_ratio(units, design);
  // Its interval has no bound while the blocks are too few for so small a `miss`.
  return std::isfinite(ratio.speedup.high) ? std::optional(ratio.speedup) : std::nullopt;
}

TimeNs AutoFigures::p99(Mode mode) const { return analyzer::percentile(units(mode), 99); }

double AutoFigures::tail_ratio() const {
  if (polled_.units.empty() || parked_.units.empty()) return 1;
  return static_cast<double>(p99(Mode::park)) / static_cast<double>(std::max<TimeNs>(1, p99(Mode::poll)));
}

double AutoFigures::tail_chance() const { return cli::tail_chance(polled_.units, parked_.units); }

double tail_chance(const std::vector<TimeNs>& polled, const std::vector<TimeNs>& parked) {
  if (polled.empty() || parked.empty()) return 1;
  const auto scaled = [](TimeNs unit) { return static_cast<TimeNs>(static_cast<double>(unit) / kMaxTail); };
  std::vector<TimeNs> all = polled;
  for (const TimeNs unit : parked) all.push_back(scaled(unit));
  const TimeNs limit = analyzer::percentile_in_place(all, 99);
  const auto above = [&](TimeNs unit) { return unit > limit; };
  const auto of_polled = std::count_if(polled.begin(), polled.end(), above);
  const auto of_parked = std::count_if(parked.begin(), parked.end(), [&](TimeNs unit) { return above(scaled(unit)); });
  if (of_parked == 0) return 1;
  const double share = static_cast<double>(parked.size()) / static_cast<double>(polled.size() + parked.size());
  const boost::math::binomial_distribution<double> equal(static_cast<double>(of_polled + of_parked), share);
  return boost::math::cdf(boost::math::complement(equal, static_cast<double>(of_parked - 1)));
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace wicprof::cli
