#include "analyzer/communication/rhythm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/communication/iteration_counts.h"
#include "analyzer/communication/message_order.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

// No threshold is fitted by itself. They were chosen on the made programs that serve to improve; the answers that
// follow are judged on others (bench_classification_made, docs/truth.md).

/// Counts that hold in this share of all iterations are the program's; the rest may be start-up.
constexpr double kRegular = 0.9;
/// Stricter threshold where agreement could be coincidence: searches and solvers take similar steps each time.
constexpr double kExact = 0.98;
/// For numbers and answers that losses cannot imitate.
constexpr double kNearlyAll = 0.97;
/// The number of iterations that halves the confidence: 8 iterations give 0.8, 200 give 0.99.
constexpr double kPriorIterations = 2;
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
/// Longest repetition that the search tries, in iterations of the program and in messages.
constexpr std::size_t kMaxIterations = 8, kMaxTransfers = 256;
/// A repetition has to occur this often.
constexpr std::size_t kMinPeriods = 4;
/// Above this the trace counts as whole.
constexpr double kWhole = 0.98;
/// Stricter threshold for records that full rings dropped: a few iterations may have lost all of them.
constexpr double kWholeRecord = 0.999;
/// With fewer records than this, all records of one side may be lost: each device has a buffer of its own.
constexpr double kBothSides = 0.9;
/// So many messages whose receipt is recorded show that the records of the other side are not lost.
constexpr std::size_t kMinHeard = 16;
/// Above this variance over that of a thinned constant, a count is not constant.
constexpr double kThinnedConstant = 1.6;
/// From this variance over that which losses explain, a count varies.
constexpr double kVaries = 2.5;
/// How far the shares of kept messages may differ between the two sides, and from the share of kept records.
constexpr double kKeptTolerance = 0.2;
/// The largest counts each way are the constant if they occur in this share of the iterations.
constexpr double kInStretches = 0.5;

/// Sources whose numbers end further apart than this share of all numbers, and this many, do not number iterations.
constexpr double kApart = 0.12;
constexpr std::uint32_t kMinApart = 4;
/// Iterations without a message in an incomplete trace are the program's beyond so many and this multiple of those that
/// losses explain, in so many places; up to the first number, losses explain them.
constexpr double kSomeGaps = 1, kManyGaps = 3, kTimesExpected = 3;
constexpr std::size_t kMinGaps = 3;
/// What equal counts are worth if no message has one of the numbers: once may be a pause, more often is a count.
constexpr double kOneGap = 0.6;
/// The most that equal counts are worth if some iterations may be without a message: records are missing and some
/// number has no message, or numbers that start again do not begin and end alike.
constexpr double kMaxWithGaps = 0.75;
/// Parts of a run in each of which some iterations differ, and what the answer is worth then.
constexpr std::size_t kParts = 4;
constexpr double kVariesThroughout = 0.95;
/// Numbers count messages if the last ones of the two directions are this far apart.
constexpr std::uint32_t kMinTopsApart = 3;
/// What an answer is worth whose numbers may count messages instead of iterations.
constexpr double kNumbersMayCountMessages = 0.75;
/// Totals of an incomplete trace that differ by less than this may be equal.
constexpr double kNearlyEqual = 0.1;
/// A repetition may miss its length in messages, this share of all messages, and so many.
constexpr double kMissedTotal = 0.002, kMaxMissed = 4;
/// What a repetition is worth of which some stretches or iterations differ.
constexpr double kNearlyRepeats = 0.85;
/// The most that a repetition in the order of messages is worth that has any exception: a longer one may have none.
constexpr double kMaxWithExceptions = 0.75;
/// The most that turns are worth of which the program counts several as one iteration.
constexpr double kMaxPingPong = 0.75;
/// What one message each way is worth where no message answers the one before.
constexpr double kInStepByChance = 0.8;
/// The most that a repetition is worth whose counts have a common divisor: the counts of iterations may be multiples of
/// a smaller exchange, other ones from iteration to iteration.
constexpr double kMaxWithDivisor = 0.75;
/// Totals that are this many times the same counts; what the answer is worth.
constexpr std::uint32_t kFreePeriods = 8;
constexpr double kFreeRunning = 0.75;
/// A source that sends in some iterations only may end this many of its gaps before the others.
constexpr double kGapsApart = 4;
/// Only sources with this many messages, and this part of all.
constexpr std::size_t kMinSourceSteps = 4, kSourcePart = 20;

/// Confidence of answers from incomplete or indirect evidence, relative to complete counts per iteration.
constexpr double kIndirect = 0.9, kMaxThinned = 0.8, kOftenWhole = 0.75, kVaryingBeyondLosses = 0.8;
/// Irregular order: the confidence rises with the variation from the first by the second, up to the third.
constexpr double kIrregularBase = 0.5, kIrregularGain = 0.4, kIrregularMost = 0.75;

double prior(std::size_t n) { return static_cast<double>(n) / (static_cast<double>(n) + kPriorIterations); }

TimeNs median_of(std::vector<TimeNs> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Model model_of(const Counts& counts) {
  if (counts.forth == 0 || counts.back == 0) return Model::unidirectional;
  return counts.forth == 1 && counts.back == 1 ? Model::alternating : Model::multiple;
}

class Finder {
 public:
  Finder(const std::vector<Step>& steps, const Completeness& completeness)
      : steps_(steps), completeness_(completeness) {
    for (const Step& step : steps) ++(step.back ? all_.back : all_.forth);
  }

  Rhythm run() {
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

 private:
  bool whole() const { return completeness_.seen >= kWhole && completeness_.recorded >= kWholeRecord; }

  /// What the answer rests on: iterations with a message, or what the order of messages repeats.
  std::size_t observed() const {
    if (!rhythm_.numbered) return rhythm_.period.count > 0 ? rhythm_.period.count : steps_.size();
    return static_cast<std::size_t>(std::count_if(iterations_.begin(), iterations_.end(),
                                                  [](const auto& iteration) { return iteration.counts.both() > 0; }));
  }

  void judge() {
    if (steps_.empty()) return;
    const double aside = static_cast<double>(std::min(all_.forth, all_.back)) / static_cast<double>(steps_.size());
    if ((aside <= kAside && sent_aside() && !in_many_iterations()) || at_ends_only()) {
      const auto heard =
          std::count_if(steps_.begin(), steps_.end(), [](const Step& step) { return step.received > 0; });
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

  void answer(Model model, double confidence, RhythmEvidence evidence) {
    rhythm_.model = model;
    rhythm_.confidence = confidence;
    rhythm_.evidence = std::move(evidence);
  }

  void set_program_period(std::size_t length = 1) {
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

  void set_transfers_period(std::size_t length) {
    rhythm_.period.what = count_of(length, "transfer");
    std::vector<TimeNs> distances;
    for (std::size_t i = length; i < steps_.size(); ++i) distances.push_back(steps_[i].at - steps_[i - length].at);
    rhythm_.period.ns = median_of(std::move(distances));
    rhythm_.period.count = steps_.size() / length;
  }

  /// The side that sends less does so at the begin and the end only.
  bool sent_aside() const {
    const bool rare = all_.back <= all_.forth;
    if (std::min(all_.forth, all_.back) <= kMaxAside) return true;
    const std::size_t part = steps_.size() / kAsideParts;
    for (std::size_t i = part; i < steps_.size() - part; ++i) {
      if (steps_[i].back == rare) return false;
    }
    return true;
  }

  /// The program's numbers show that the side that sends less does so all along, even if its thread ran ahead.
  bool in_many_iterations() const {
    if (!rhythm_.iterations_known) return false;
    const auto with_rare = static_cast<std::size_t>(
        std::count_if(iterations_.begin(), iterations_.end(), [&](const ProgramIteration& iteration) {
          return (all_.back <= all_.forth ? iteration.counts.back : iteration.counts.forth) > 0;
        }));
    return with_rare > kMaxAside &&
           static_cast<double>(with_rare) > kAsideIterations * static_cast<double>(iterations_.size());
  }

  /// The side that sends less does so at the begin or the end only, a little: in the first or last iteration by the
  /// program's numbers, or in time.
  bool at_ends_only() const {
    const std::size_t n = rhythm_.iterations_known ? iterations_.size() : 0;
    const std::uint32_t rare = std::min(all_.forth, all_.back);
    if (n < kEndsFrom || rare == 0 || rare > kMaxAside) return false;
    if (first_or_last()) return true;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      if ((all_.back == rare ? iterations_[i].counts.back : iterations_[i].counts.forth) > 0) return false;
    }
    return true;
  }

  /// In time, the messages of the side that sends less are the very first or the very last, whatever their numbers.
  bool first_or_last() const {
    const bool rare = all_.back <= all_.forth;
    const auto sent_by_rare = [&](const Step& step) { return step.back == rare; };
    const std::ptrdiff_t n = rare ? all_.back : all_.forth;
    return std::all_of(steps_.begin(), steps_.begin() + n, sent_by_rare) ||
           std::all_of(steps_.end() - n, steps_.end(), sent_by_rare);
  }

  void judge_one_way(double aside) {
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

  // --- the program numbers its iterations

  void judge_counts() {
    const std::vector<Counts> counts = inner_counts(iterations_);
    const auto [usual, share] = most_common(counts);
    const bool both = usual.forth > 0 && usual.back > 0;
    // In a whole trace, nobody sent anything in an iteration without messages.
    const std::size_t gaps = whole() ? empty_stretches(counts) : 0;
    if (share >= kRegular && both && gaps <= 1) {
      set_program_period();
      answer(model_of(usual), share * prior(counts.size()), rhythm_evidence::SameCounts{usual, share, counts.size()});
      if (gaps > 0) rhythm_.confidence *= kOneGap;
      // A gap beside the first or the last iteration counts, too, though these two do not.
      const std::size_t all_gaps = empty_stretches(counts_with_gaps(iterations_));
      if (uneven_runs() || all_gaps > gaps) {
        rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithGaps);
      }
      if (whole() && share < 1) rhythm_.confidence *= kNearlyRepeats;
      if (usual.forth == usual.back && usual.forth > 1) judge_ping_pong(usual);
      if (usual == Counts{1, 1}) judge_order_of_single_messages();
      return;
    }
    if (in_phases(counts)) {
      rhythm_.evidence = rhythm_evidence::Phases{ranges_of(counts)};
      return;
    }
    if (!whole() || completeness_.least < 1) return judge_thinned_counts();
    if (judge_several_iterations()) return;
    set_program_period();
    // The fewer iterations have the most common counts, the higher the confidence.
    const double varies = varies_throughout(counts, usual) ? kVariesThroughout : 0;
    const double with_gaps = usual.both() > 0 ? static_cast<double>(gaps) / static_cast<double>(gaps + 1) : 0;
    answer(Model::probabilistic, std::max({varies, with_gaps, std::min(1.0, 2 * (1 - share))}) * prior(counts.size()),
           rhythm_evidence::VaryingCounts{ranges_of(counts), usual, share, counts.size()});
  }

  static std::size_t empty_stretches(const std::vector<Counts>& counts) {
    std::size_t stretches = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      stretches += counts[i].both() == 0 && (i == 0 || counts[i - 1].both() > 0) ? 1 : 0;
    }
    return stretches;
  }

  /// Whether numbers that start again begin or end with other ones than before; the last run may be cut short.
  bool uneven_runs() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;  // first and last number
    for (const ProgramIteration& iteration : iterations_) {
      if (iteration.run == runs.size()) runs.emplace_back(iteration.number, iteration.number);
      runs.back().second = iteration.number;
    }
    for (std::size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].first != runs[0].first || (i + 1 < runs.size() && runs[i].second != runs[0].second)) return true;
    }
    return runs.size() > 1 && runs.back().second > runs[0].second;
  }

  // One message each way per number: either the numbers count iterations, or each side numbers its messages. In turn,
  // both are the same. Otherwise the order may show longer iterations, or leaves both possible.
  void judge_order_of_single_messages() {
    if (tops_apart() >= kMinTopsApart) {
      rhythm_.model = Model::unknown;
      rhythm_.evidence = rhythm_evidence::NoRepetition{true, steps_.size()};
      if (whole() && !judge_repetition(kRegular, kMaxTransfers)) judge_irregular_order();
      return;
    }
    std::size_t in_turn = 0;
    for (std::size_t i = 1; i < steps_.size(); ++i) in_turn += steps_[i].back != steps_[i - 1].back ? 1 : 0;
    if (static_cast<double>(in_turn) >= kRegular * static_cast<double>(steps_.size() - 1)) return;
    const auto stretch = shortest_repetition(steps_, kExact, kMaxTransfers);
    if (stretch && stretch->length > 2 && longest_lead() > 1) {
      set_transfers_period(stretch->length);
      return answer(model_of(stretch->counts), kNumbersMayCountMessages * stretch->share * prior(stretch->stretches),
                    rhythm_evidence::Repetition{stretch->counts, stretch->share, stretch->stretches});
    }
    rhythm_.confidence *= kNumbersMayCountMessages;
  }

  void judge_order_of_thinned_messages() {
    rhythm_.confidence *= kNumbersMayCountMessages;
    if (tops_apart() >= kMinTopsApart) {
      rhythm_.model = Model::unknown;
      rhythm_.evidence = rhythm_evidence::NoRepetition{true, steps_.size()};
    }
  }

  /// How far the highest numbers of the two directions are apart. Where numbers count iterations, both sides end with
  /// the same one.
  std::uint32_t tops_apart() const {
    std::uint32_t forth = 0, back = 0;
    for (const Step& step : steps_) {
      std::uint32_t& top = step.back ? back : forth;
      top = std::max(top, step.iteration);
    }
    return std::max(forth, back) - std::min(forth, back);
  }

  /// How far one side's number is ever ahead of the other side's. With one message each way per iteration, sides that
  /// overtake each other within an iteration are one ahead; within a longer one, a side sends several before the other.
  std::uint32_t longest_lead() const {
    std::uint32_t top[2] = {iterations_.front().number - 1, iterations_.front().number - 1}, lead = 0;
    for (const Step& step : steps_) {
      top[step.back] = std::max(top[step.back], step.iteration);
      lead = std::max(lead, std::max(top[0], top[1]) - std::min(top[0], top[1]));
    }
    return lead;
  }

  // Blocks or sides that number their own messages, and send different amounts: their numbers run away from each other.
  // Numbers of iterations may be apart, but all end at the same one.
  bool numbers_drift_apart() const {
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

  void forget_numbers() {
    rhythm_.iterations_known = rhythm_.numbered = false;
    iterations_.clear();
    std::iota(rhythm_.unit.begin(), rhythm_.unit.end(), 0u);
  }

  // Iterations with other counts occur in every part of the run: they are neither start-up nor a disturbance.
  static bool varies_throughout(const std::vector<Counts>& counts, const Counts& usual) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() * part / kParts);
      const auto end = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() * (part + 1) / kParts);
      if (std::count(begin, end, usual) == end - begin) return false;
    }
    return true;
  }

  // Several exchanges with one iteration number, in each of which a side answers the other.
  void judge_ping_pong(const Counts& usual) {
    const double share = answering_share(steps_);
    if (share < kNearlyAll) return;
    // Sides that send several messages each, and wait for room in between, take turns, too.
    answer(Model::alternating, std::min(kMaxPingPong, share * prior(steps_.size() / 2)),
           rhythm_evidence::Answers{share, usual.forth});
    set_transfers_period(2);
  }

  // A few iterations of the program that have the same counts only together.
  bool judge_several_iterations() {
    const std::vector<Counts> all = counts_with_gaps(iterations_);
    for (std::size_t length = 2; length <= kMaxIterations && all.size() >= kMinPeriods * length; ++length) {
      std::size_t holds = 0;
      Counts sum;
      for (std::size_t at = 0; at < length; ++at) {
        std::vector<Counts> counts;
        for (std::size_t i = at; i < all.size(); i += length) counts.push_back(all[i]);
        const auto [usual, share] = most_common(counts);
        holds += static_cast<std::size_t>(std::lround(share * static_cast<double>(counts.size())));
        sum.forth += usual.forth;
        sum.back += usual.back;
      }
      const double share = static_cast<double>(holds) / static_cast<double>(all.size());
      if (share < kExact || sum.forth == 0 || sum.back == 0) continue;
      set_program_period(length);
      answer(model_of(sum), kIndirect * share * prior(all.size() / length),
             rhythm_evidence::SeveralIterations{sum, length, share});
      return true;
    }
    return false;
  }

  // --- some messages are missing

  void judge_thinned_counts() {
    using Reading = rhythm_evidence::Incomplete::Reading;
    const std::vector<Counts> counts = inner_counts(iterations_);
    const Spread forth = spread_of(counts, &Counts::forth, completeness_);
    const Spread back = spread_of(counts, &Counts::back, completeness_);
    const auto [usual, share] = most_common(counts);
    const double kept = std::min(forth.kept, back.kept);
    const Counts most{static_cast<std::uint32_t>(forth.most), static_cast<std::uint32_t>(back.most)};
    rhythm_evidence::Incomplete evidence{Reading::ambiguous, most, forth.kept, back.kept, 0};
    set_program_period();
    const std::optional<bool> gaps = gaps_beyond_losses(counts, forth, back);
    if (gaps && *gaps) {
      evidence.reading = Reading::varying;
      evidence.excess = std::max(forth.least_excess, back.least_excess);
      return answer(Model::probabilistic, kVaryingBeyondLosses * prior(counts.size()), evidence);
    }
    const bool constant = !gaps && forth.excess <= kThinnedConstant && back.excess <= kThinnedConstant &&
                          std::abs(forth.kept - back.kept) <= kKeptTolerance &&
                          kept >= completeness_.seen - kKeptTolerance;
    const bool in_stretches = !gaps && share >= kInStretches && usual.forth >= forth.most && usual.back >= back.most;
    if (constant || in_stretches) {
      evidence.reading = Reading::constant;
      answer(model_of(most), (constant ? kIndirect : kOftenWhole) * prior(counts.size()), evidence);
      if (most == Counts{1, 1}) judge_order_of_thinned_messages();
      rhythm_.confidence = std::min(rhythm_.confidence, kMaxThinned);
      return;
    }
    // Whole iterations that a full ring dropped also leave varying counts.
    const bool dropped = completeness_.recorded < kWholeRecord && kept >= completeness_.recorded - kKeptTolerance;
    evidence.excess = std::max(forth.least_excess, back.least_excess);
    if (evidence.excess >= kVaries && !dropped) {
      evidence.reading = Reading::varying;
      return answer(Model::probabilistic, kVaryingBeyondLosses * prior(counts.size()), evidence);
    }
    rhythm_.evidence = evidence;
  }

  /// Whether more iterations are without any message than losses explain; nothing if losses explain them all. `forth`
  /// and `back`: the messages per iteration.
  std::optional<bool> gaps_beyond_losses(const std::vector<Counts>& counts, const Spread& forth,
                                         const Spread& back) const {
    const auto n = static_cast<double>(counts.size());
    const auto empty =
        static_cast<double>(std::count_if(counts.begin(), counts.end(), [](const Counts& c) { return c.both() == 0; }));
    // Full rings drop whole iterations, other losses each message by itself.
    const double lost = 1 - completeness_.seen;
    double expected = completeness_.recorded < 1 ? lost : std::pow(lost, forth.most + back.most);
    // More may be lost of these two sides than of all.
    if (std::min(forth.kept, back.kept) >= completeness_.seen - kKeptTolerance) {
      expected = std::max(expected, std::pow(1 - forth.kept, forth.most) * std::pow(1 - back.kept, back.most));
    }
    if (empty <= kSomeGaps + expected * n) return std::nullopt;
    return empty >= kManyGaps + kTimesExpected * expected * n && empty_stretches(counts) >= kMinGaps;
  }

  bool one_message_per_number() const {
    return std::all_of(iterations_.begin(), iterations_.end(),
                       [](const ProgramIteration& iteration) { return iteration.counts.both() <= 1; });
  }

  // The numbers count transfers, not iterations: all numbers with the same remainder have one direction, whatever is
  // missing.
  bool judge_residues() {
    const std::size_t n = iterations_.size();
    for (std::size_t length = 2; length <= kMaxTransfers && n >= kMinPeriods * length; ++length) {
      std::vector<Counts> classes(length);
      for (const ProgramIteration& iteration : iterations_) {
        Counts& c = classes[iteration.number % length];
        ++(iteration.counts.back > 0 ? c.back : c.forth);
      }
      std::size_t pure = 0;
      Counts sum;
      bool complete = true;
      for (const Counts& c : classes) {
        pure += std::max(c.forth, c.back);
        complete = complete && c.both() > 0;
        ++(c.back > c.forth ? sum.back : sum.forth);
      }
      const double share = static_cast<double>(pure) / static_cast<double>(n);
      if (!complete || share < kNearlyAll || sum.forth == 0 || sum.back == 0) continue;
      set_program_period(length);
      answer(model_of(sum), kNumbersMayCountMessages * share * prior(n / length),
             rhythm_evidence::NumbersPerTransfer{sum, length, share});
      return true;
    }
    return false;
  }

  // --- only the order of the messages is known

  bool mostly_one_message_per_number() const {
    const auto single = std::count_if(iterations_.begin(), iterations_.end(),
                                      [](const ProgramIteration& iteration) { return iteration.counts.both() == 1; });
    return static_cast<double>(single) >= kRegular * static_cast<double>(iterations_.size());
  }

  void judge_numbered_transfers() {
    if (judge_repetition(kRegular, kMaxTransfers) || judge_irregular_order()) return;
    rhythm_.evidence = rhythm_evidence::NoRepetition{true, steps_.size()};
  }

  void judge_unnumbered() {
    if (steps_.size() < 2 * kMinIterations) {
      rhythm_.evidence = rhythm_evidence::TooFew{steps_.size() / 2, true, kMinIterations};
      return;
    }
    if (!whole()) {
      rhythm_.evidence = rhythm_evidence::UnnumberedAndIncomplete{};
      return;
    }
    if (const auto stretch = judge_repetition(kRegular, kMaxTransfers)) {
      rhythm_.iterations_known = true;
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        rhythm_.unit[i] = static_cast<std::uint32_t>((i + stretch->length - stretch->start) / stretch->length);
      }
      return;
    }
    if (judge_irregular_order()) return;
    rhythm_.evidence = rhythm_evidence::NoRepetition{false, steps_.size()};
  }

  std::optional<RepeatedStretch> judge_repetition(double regular, std::size_t longest) {
    const auto stretch = shortest_repetition(steps_, regular, longest);
    if (!stretch || !fits_totals(*stretch)) return std::nullopt;
    set_transfers_period(stretch->length);
    answer(model_of(stretch->counts), stretch->share * prior(stretch->stretches),
           rhythm_evidence::Repetition{stretch->counts, stretch->share, stretch->stretches});
    if (stretch->share < kExact) rhythm_.confidence *= kNearlyRepeats;
    if (stretch->share < 1) rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithExceptions);
    // Sides that both send several messages at once may do so one by one.
    if (stretch->counts == Counts{1, 1} && answering_share(steps_) < kRegular) rhythm_.confidence *= kInStepByChance;
    if (std::gcd(stretch->counts.forth, stretch->counts.back) > 1) {
      rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithDivisor);
    }
    return stretch;
  }

  /// Counts that nearly repeat, such as one each way in 33 forth and 34 back, miss the same part of every repetition.
  bool fits_totals(const RepeatedStretch& stretch) const {
    const double forth = all_.forth, back = all_.back;
    const double missed =
        std::abs(forth * stretch.counts.back - back * stretch.counts.forth) / static_cast<double>(stretch.length);
    return missed <= static_cast<double>(stretch.length) + kMissedTotal * (forth + back) || missed <= kMaxMissed;
  }

  bool judge_irregular_order() {
    const auto lengths = irregular_order(steps_, all_);
    if (!lengths) return false;
    // Totals with a large common divisor are no coincidence: two sides that run freely, each with a constant count.
    const double ratio = static_cast<double>(all_.forth) / static_cast<double>(all_.back);
    if (completeness_.least < 1 && std::abs(ratio - 1) < kNearlyEqual) return false;  // one each, and some are missing
    const std::uint32_t periods = std::gcd(all_.forth, all_.back);
    if (periods >= kFreePeriods) {
      const Counts counts{all_.forth / periods, all_.back / periods};
      if (counts.forth == counts.back) return false;  // one each, or several
      set_transfers_period(counts.both());
      answer(Model::multiple, kFreeRunning * prior(periods), rhythm_evidence::Repetition{counts, 1, periods});
      return true;
    }
    const double confidence =
        std::min(kIrregularMost, kIrregularBase + kIrregularGain * std::min(lengths->variation, 1.0));
    answer(Model::probabilistic, confidence * prior(lengths->runs),
           rhythm_evidence::IrregularOrder{kMaxTransfers, lengths->shortest, lengths->longest, lengths->mean});
    rhythm_.period.count = 0;
    return true;
  }

  const std::vector<Step>& steps_;
  const Completeness completeness_;
  Counts all_;
  std::vector<ProgramIteration> iterations_;
  Rhythm rhythm_;
};

}  // namespace

Rhythm find_rhythm(const std::vector<Step>& steps, const Completeness& completeness) {
  return Finder(steps, completeness).run();
}

}  // namespace wicprof::analyzer
