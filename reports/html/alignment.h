// Two traces of one program side by side: which time of one stands for which time of the other, by their iterations.
#pragma once

#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/waits/iterations.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

/// A trace's time as a whole, and its iterations within: those of one site, the same one in both traces.
struct AlignedTrace {
  Interval whole;
  std::vector<Iteration> iterations{};  ///< in order of time; none: the traces begin at the same time
};

/// The first iterations stand at the same place, and the second ones, as many as both have; between the begins of two,
/// times are in proportion. Before the first and after the last, times are as far from it in both.
class Alignment {
 public:
  Alignment(const AlignedTrace& first, const AlignedTrace& second);

  TimeNs second_of(TimeNs first) const { return partner(first, &Pair::first, &Pair::second); }
  TimeNs first_of(TimeNs second) const { return partner(second, &Pair::second, &Pair::first); }
  Interval first_of(Interval second) const { return {first_of(second.begin), first_of(second.end)}; }
  Interval second_of(Interval first) const { return {second_of(first.begin), second_of(first.end)}; }
  /// Equally long, the first iteration at the same place, and all of both traces within.
  Interval whole_of_first() const;
  Interval whole_of_second() const;

  /// [number, begin, number, begin, ...] of pairs of iterations, each the difference to the last pair, times from the
  /// traces' begins on; the last pair has the ends of the last iterations. Of very many, some, but all that touch
  /// `fine`, of the second trace.
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

/// The same times once, in order: stretches that overlap become one, and what lies outside of `whole` is left out.
std::vector<Interval> merged(std::vector<Interval> stretches, Interval whole);

}  // namespace wicprof::reports::html
