#include "analyzer/communication/rhythm_finder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

// As in rhythm_finder.h, none of these is fitted by itself.

/// A side that sends at most this share of all messages (a result at the end, a word at the start) does not take turns.
constexpr double kAside = 0.02;
/// Such messages lie in the first or last of these parts of all messages, or are at most this many.
constexpr std::size_t kAsideParts = 10, kMaxAside = 2;
/// How fast such messages lower the confidence.
constexpr double kAsidePenalty = 5;
/// A side with messages in more than this share of the iterations takes turns, however many the other side sends.
constexpr double kAsideIterations = 0.1;
/// The most that a one-way answer is worth where the other side's messages may be turns, sent by a thread that ran
/// ahead.
constexpr double kMaxWithOthersAside = 0.75;
/// From so many iterations on, the first and the last may be a start and an end with messages of their own.
constexpr std::size_t kEndsFrom = 8;
/// With fewer records than this, all records of one side may be lost: each device has a buffer of its own.
constexpr double kBothSides = 0.9;
/// So many messages whose receipt is recorded show that the records of the other side are not lost.
constexpr std::size_t kMinHeard = 16;
/// Sources whose numbers end further apart than this share of all numbers, and this many, do not number iterations.
constexpr double kApart = 0.12;
constexpr std::uint32_t kMinApart = 4;
/// A source that sends in some iterations only may end this many of its gaps before the others.
constexpr double kGapsApart = 4;
/// Only sources with this many messages, and this part of all.
constexpr std::size_t kMinSourceSteps = 4, kSourcePart = 20;

TimeNs median_of(std::vector<TimeNs> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Model RhythmFinder::model_of(const Counts& counts) {
  if (counts.forth == 0 || counts.back == 0) return Model::unidirectional;
  return counts.forth == 1 && counts.back == 1 ? Model::alternating : Model::multiple;
}

Rhythm RhythmFinder::run() {
  std::optional<NumberedSteps> numbered = number_iterations(steps_);
  rhythm_.iterations_known = rhythm_.numbered = numbered && numbered->iterations.size() >= kMinIterations;
  if (rhythm_.iterations_known) {
    iterations_ = std::move(numbered->iterations);
    rhythm_.unit = std::move(numbered->iteration_of);
  } else {
    rhythm_.unit.resize(steps_.size());
    std::iota(rhythm_.unit.begin(), rhythm_.unit.end(), 0u);
  }
  judge();
  rhythm_.confidence = std::min(rhythm_.confidence, most_from(observed()));
  return std::move(rhythm_);
}

std::size_t RhythmFinder::observed() const {
  if (!rhythm_.numbered) return rhythm_.period.count > 0 ? rhythm_.period.count : steps_.size();
  return static_cast<std::size_t>(std::count_if(iterations_.begin(), iterations_.end(),
                                                [](const auto& iteration) { return iteration.counts.both() > 0; }));
}

void RhythmFinder::judge() {
  if (steps_.empty()) return;
  const double aside = static_cast<double>(std::min(all_.forth, all_.back)) / static_cast<double>(steps_.size());
  if ((aside <= kAside && sent_aside() && !in_many_iterations()) || at_ends_only()) {
    const auto heard = std::count_if(steps_.begin(), steps_.end(), [](const Step& step) { return step.received > 0; });
    if (completeness_.recorded >= kBothSides || static_cast<std::size_t>(heard) >= kMinHeard) {
      return judge_one_way(aside);
    }
    rhythm_.evidence = rhythm_evidence::OneSideRecorded{completeness_.recorded};
    return;
  }
  if (rhythm_.iterations_known && numbers_drift_apart()) forget_numbers();
  if (!rhythm_.iterations_known) {
    judge_unnumbered();
    // Numbers that do not count iterations may still separate what the order joins.
    const auto other = [&](const Step& step) { return step.iteration != steps_.front().iteration; };
    if (std::any_of(steps_.begin(), steps_.end(), other)) rhythm_.confidence *= kNumbersMayCountMessages;
    return;
  }
  if (!whole() && one_message_per_number() && judge_residues()) return;
  if (whole() && mostly_one_message_per_number()) return judge_numbered_transfers();
  judge_counts();
}

void RhythmFinder::answer(Model model, double confidence, RhythmEvidence evidence) {
  rhythm_.model = model;
  rhythm_.confidence = confidence;
  rhythm_.evidence = std::move(evidence);
}

void RhythmFinder::set_program_period(std::size_t length) {
  Period& period = rhythm_.period;
  period.what = length == 1 ? "the program's iteration" : std::to_string(length) + " of the program's iterations";
  std::vector<TimeNs> distances;
  for (std::size_t i = length; i < iterations_.size(); ++i) {
    const ProgramIteration &from = iterations_[i - length], &to = iterations_[i];
    if (from.run == to.run && to.number - from.number == length) distances.push_back(to.begin - from.begin);
  }
  period.ns = median_of(std::move(distances));
  period.count = iterations_.size() / length;
}

void RhythmFinder::set_transfers_period(std::size_t length) {
  rhythm_.period.what = count_of(length, "transfer");
  std::vector<TimeNs> distances;
  for (std::size_t i = length; i < steps_.size(); ++i) distances.push_back(steps_[i].at - steps_[i - length].at);
  rhythm_.period.ns = median_of(std::move(distances));
  rhythm_.period.count = steps_.size() / length;
}

bool RhythmFinder::sent_aside() const {
  const bool rare = all_.back <= all_.forth;
  if (std::min(all_.forth, all_.back) <= kMaxAside) return true;
  const std::size_t part = steps_.size() / kAsideParts;
  for (std::size_t i = part; i < steps_.size() - part; ++i) {
    if (steps_[i].back == rare) return false;
  }
  return true;
}

bool RhythmFinder::in_many_iterations() const {
  if (!rhythm_.iterations_known) return false;
  const auto with_rare = static_cast<std::size_t>(
      std::count_if(iterations_.begin(), iterations_.end(), [&](const ProgramIteration& iteration) {
        return (all_.back <= all_.forth ? iteration.counts.back : iteration.counts.forth) > 0;
      }));
  return with_rare > kMaxAside &&
         static_cast<double>(with_rare) > kAsideIterations * static_cast<double>(iterations_.size());
}

bool RhythmFinder::at_ends_only() const {
  const std::size_t n = rhythm_.iterations_known ? iterations_.size() : 0;
  const std::uint32_t rare = std::min(all_.forth, all_.back);
  if (n < kEndsFrom || rare == 0 || rare > kMaxAside) return false;
  if (first_or_last()) return true;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    if ((all_.back == rare ? iterations_[i].counts.back : iterations_[i].counts.forth) > 0) return false;
  }
  return true;
}

bool RhythmFinder::first_or_last() const {
  const bool rare = all_.back <= all_.forth;
  const auto sent_by_rare = [&](const Step& step) { return step.back == rare; };
  const std::ptrdiff_t n = rare ? all_.back : all_.forth;
  return std::all_of(steps_.begin(), steps_.begin() + n, sent_by_rare) ||
         std::all_of(steps_.end() - n, steps_.end(), sent_by_rare);
}

void RhythmFinder::judge_one_way(double aside) {
  const bool numbered = rhythm_.iterations_known;
  const std::size_t n = numbered ? iterations_.size() : steps_.size();
  if (numbered) {
    set_program_period();
  } else {
    set_transfers_period(1);
  }
  if (n < kMinIterations) {
    rhythm_.evidence = rhythm_evidence::TooFew{n, numbered, kMinIterations};
    return;
  }
  rhythm_evidence::OneWay evidence{std::max(all_.forth, all_.back), std::min(all_.forth, all_.back), 0, {}};
  if (numbered) {
    evidence.iterations = n;
    evidence.ranges = ranges_of(all_counts(iterations_));
  }
  answer(Model::unidirectional, prior(n) * (1 - kAsidePenalty * aside), evidence);
  if (evidence.other > kMaxAside) rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithOthersAside);
}

bool RhythmFinder::numbers_drift_apart() const {
  if (iterations_.back().run != 0) return false;
  struct Source {
    std::uint32_t top = 0;
    std::size_t steps = 0;
  };
  std::map<std::uint64_t, Source> sources;
  std::uint32_t most = 0, least = ~0u;
  for (const Step& step : steps_) {
    if (step.source == Step::kUnknownSource) continue;
    Source& source = sources[step.source];
    source.top = std::max(source.top, step.iteration);
    ++source.steps;
    most = std::max(most, step.iteration);
    least = std::min(least, step.iteration);
  }
  const double range = most - least;
  return std::any_of(sources.begin(), sources.end(), [&](const auto& entry) {
    const Source& source = entry.second;
    if (source.steps < kMinSourceSteps || kSourcePart * source.steps < steps_.size()) return false;
    const double apart = most - source.top, usual_gap = range / static_cast<double>(source.steps);
    return apart >= kMinApart && apart >= kApart * range && apart >= kGapsApart * usual_gap;
  });
}

void RhythmFinder::forget_numbers() {
  rhythm_.iterations_known = rhythm_.numbered = false;
  iterations_.clear();
  std::iota(rhythm_.unit.begin(), rhythm_.unit.end(), 0u);
}

Rhythm find_rhythm(const std::vector<Step>& steps, const Completeness& completeness) {
  return RhythmFinder(steps, completeness).run();
}

}  // namespace wicprof::analyzer
