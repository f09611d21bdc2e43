// Runs of a program as a comparison needs them, and the comparison of several per side.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzer/compare/compare.h"
#include "analyzer/compare/timed_units.h"

namespace wicprof::analyzer {

/// Something in a run that a comparison can time.
struct RunUnits {
  Iterations iterations;
  UnitSource source = UnitSource::iterations;
  std::string place;  ///< site and device, for people
  std::string why;    ///< as in TimedUnits
};

/// One recorded run, reduced to what a comparison needs, so that many runs fit in memory where their traces would not.
struct RunSeries {
  std::string trace;  ///< its name, for people
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  TimeNs begin_ns = 0, end_ns = 0;
  std::vector<RunUnits> units;    ///< the best first, as all_units() orders them
  std::string why_none;           ///< why there are none; empty if there are any
  std::set<std::string> devices;  ///< names of the devices, without the CPU
  bool gpu = false;               ///< one of them is a GPU
  std::string command;            ///< the program with its arguments
  TimeNs started_ns = 0;          ///< on a clock that runs of one machine share; 0: unknown
  std::vector<std::string> notes;
};
RunSeries series_of(const TraceModel& model, const CompareOptions& options = {});

/// Between repeated runs. Each run is one unit, so the interval covers the variation between runs.
Comparison compare_runs(const std::vector<RunSeries>& before, const std::vector<RunSeries>& after,
                        std::string before_label, std::string after_label, const CompareOptions& options = {});

}  // namespace wicprof::analyzer
