// What the autopilot measures: blocks of two phases, one of each mode in random order, with their units of work.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/measure/bootstrap.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::cli {

/// One phase of one way of waiting.
struct AutoPhase {
  Mode mode = Mode::poll;
  TimeNs length = 0;
  double log_time = 0;             ///< the natural logarithm of its time per unit, in ns; 0: not known
  bool cut = false;                ///< it had too few units when its time was over: the time per unit is longer
  std::vector<TimeNs> units = {};  ///< their durations
};

class AutoFigures {
 public:
  static constexpr std::size_t kMostUnits = 50'000;

  explicit AutoFigures(TimeNs from = 0) : from_(from) {}

  /// Two phases, one of each mode. A block without a time per unit is left out, and so is one
  /// whose polled phase was cut: the program may have had nothing to do. Keeps the units of the
  /// latest blocks, up to kMostUnits of each mode.
  void add(const AutoPhase& one, const AutoPhase& other);

  TimeNs from() const { return from_; }
  std::size_t blocks() const { return differences_.size(); }
  /// log(time per unit polled / parked), in order of the blocks.
  const std::vector<double>& differences() const { return differences_; }
  const std::vector<double>& times(Mode mode) const { return mode == Mode::poll ? polled_.logs : parked_.logs; }
  const std::vector<TimeNs>& units(Mode mode) const { return mode == Mode::poll ? polled_.units : parked_.units; }

  /// The time per unit polled / parked with the interval that the comparison gives a run that looks while it measures:
  /// analyzer::unit_ratio(), method `looks`, which holds at all looks together but with probability `miss`. Nothing
  /// below analyzer::kFewestBlocks blocks.
  std::optional<analyzer::Speedup> ratio(double miss) const;

  /// In ns; 0 without units.
  TimeNs p99(Mode mode) const;
  /// The 99th percentile parked / polled; 1 where a side has no units.
  double tail_ratio() const;
  /// The probability that equal tails show what these do (tail_chance()).
  double tail_chance() const;

 private:
  struct Side {
    std::vector<double> logs;
    std::vector<TimeNs> units;
  };
  TimeNs from_;
  Side polled_, parked_;
  std::vector<double> differences_;
};

/// The largest ratio of the 99th percentiles of a unit, parked over polled, at which parking stays.
inline constexpr double kMaxTail = 1.02;

/// The probability that so many of the parked units exceed the common 99th percentile by chance, if the parked tail is
/// kMaxTail times the polled one: with the parked units divided by kMaxTail, those of both sides above the 99th
/// percentile of all are of either side by the shares of the units (a one-sided binomial test). Assumes that units
/// exceed independently of each other. 1 where a side has no units.
double tail_chance(const std::vector<TimeNs>& polled, const std::vector<TimeNs>& parked);

/// 0 of fewer than two values.
double standard_deviation(const std::vector<double>& values);

}  // namespace wicprof::cli
