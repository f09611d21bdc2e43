// Aligns two traces of one program by their iterations: maps each time of one trace to a time of the other.
#pragma once

#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/waits/iterations.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// The time of a whole trace, and the iterations of one site, which is the same in both traces.
struct AlignedTrace {
  Interval whole;
  std::vector<Iteration> iterations{};  ///< in order of time; if empty, the begins of the traces are aligned
};

/// Pairs the n-th iterations of both traces, as many as both have. Between the begins of two iterations the mapping is
/// linear; before the first and after the last it keeps distances.
class Alignment {
 public:
  Alignment(const AlignedTrace& first, const AlignedTrace& second);

  TimeNs second_of(TimeNs first) const { return partner(first, &Pair::first, &Pair::second); }
  TimeNs first_of(TimeNs second) const { return partner(second, &Pair::second, &Pair::first); }
  Interval first_of(Interval second) const { return {first_of(second.begin), first_of(second.end)}; }
  Interval second_of(Interval first) const { return {second_of(first.begin), second_of(first.end)}; }
  /// Windows of equal length that contain both traces whole, with the first iteration at the same place.
  Interval whole_of_first() const;
  Interval whole_of_second() const;

  /// [number, begin, number, begin, ...] of pairs of iterations, each as the difference from the last pair; the first
  /// times count from the traces' begins, and the last pair has the ends of the last iterations. A long list is
  /// thinned out, except for the pairs that touch `fine`, which is in times of the second trace.
  std::string json(const std::vector<Interval>& fine) const;

 private:
  struct Pair {
    TimeNs first = 0, second = 0;
    std::uint32_t first_number = 0, second_number = 0;
  };
  TimeNs partner(TimeNs time, TimeNs Pair::*of, TimeNs Pair::*in) const;

  Interval first_, second_;
  std::vector<Pair> pairs_;  // at least one
};

/// Sorts the intervals, merges those that overlap, and clips them to `whole`.
std::vector<Interval> merged(std::vector<Interval> stretches, Interval whole);

}  // namespace wicprof::reports::html
