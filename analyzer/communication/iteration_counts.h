// How many messages go each way in each of the program's iterations, and whether these counts are constant.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/communication/rhythm.h"

namespace wicprof::analyzer {

/// One iteration of the program.
struct ProgramIteration {
  std::uint32_t run = 0;  ///< 0 and up; a numbering that starts again starts another run
  std::uint32_t number = 0;
  TimeNs begin = 0;
  Counts counts;
};

struct NumberedSteps {
  std::vector<ProgramIteration> iterations;
  std::vector<std::uint32_t> iteration_of;  ///< per step: an index into `iterations`
};

/// The program's iterations, or nothing if its numbers do not follow the messages in time.
std::optional<NumberedSteps> number_iterations(const std::vector<Step>& steps);

/// The counts of all iterations.
std::vector<Counts> all_counts(const std::vector<ProgramIteration>& iterations);

/// The counts with zeros for the numbers without any message. A constant distance between numbers leaves nothing out.
std::vector<Counts> counts_with_gaps(const std::vector<ProgramIteration>& iterations);

/// The same without the first and last iteration of each run, where enough others remain: the trace often holds only a
/// part of these.
std::vector<Counts> inner_counts(const std::vector<ProgramIteration>& iterations);

/// The most common value and its share.
std::pair<Counts, double> most_common(std::vector<Counts> counts);

CountRanges ranges_of(const std::vector<Counts>& counts);

/// Whether most iterations of each part of the run have the same counts, other ones than in other parts: several
/// programs one after another.
bool in_phases(const std::vector<Counts>& counts);
/// Whether the counts change more rarely than independent ones, but perhaps not in phases.
bool may_be_in_phases(const std::vector<Counts>& counts);

/// How a count varies over iterations of which some messages are missing.
struct Spread {
  double most = 0, mean = 0;
  double kept = 0;          ///< mean / most
  double excess = 0;        ///< variance over that of thinning a constant count: 1 for a thinned constant, else more
  double least_excess = 0;  ///< the same for Completeness::least
};
Spread spread_of(const std::vector<Counts>& counts, std::uint32_t Counts::*side, const Completeness& completeness);

}  // namespace wicprof::analyzer
