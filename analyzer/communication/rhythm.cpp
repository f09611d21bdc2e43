#include "analyzer/communication/rhythm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Fewer iterations than this show no regularity.
constexpr std::size_t kMinIterations = 3;
/// A count that holds in this part of all iterations is the program's; the rest may be start-up.
constexpr double kRegular = 0.9;
/// The same of what might be alike by accident.
constexpr double kExact = 0.98;
/// How many iterations weigh as much as having seen none: 8 iterations give a confidence of 0.8, 200 one of 0.99.
constexpr double kPriorIterations = 2;
/// The first and last iterations are often seen in part only. They are left out where enough others remain.
constexpr std::size_t kTrimFrom = 6;
/// A side that sends this part of all messages at most (a result at the end, a word to begin) does not take turns.
constexpr double kAside = 0.02;
/// Longest repetition looked for, in iterations of the program and in messages.
constexpr std::size_t kMostIterations = 8, kMostTransfers = 64;
/// Above this the trace counts as whole.
constexpr double kWhole = 0.98;
/// The same of what full rings have swallowed: that may all be of a few iterations.
constexpr double kWholeRecord = 0.999;
/// Where less of all records is there, one side's may be lost altogether: each device has a buffer of its own.
constexpr double kBothSides = 0.9;
/// Messages may be so many iterations behind others, which have tags of their own: an eighth of all, within these
/// bounds.
constexpr std::uint32_t kLeastOverlap = 2, kMostOverlap = 16;
/// A numbering that starts again does so with one of its first numbers.
constexpr std::uint32_t kFirstNumbers = 2;
/// Numbers that go up by more from one message to the next do not count iterations; a few may have been lost.
constexpr std::uint32_t kLeap = 8;

struct Counts {
  std::uint32_t forth = 0, back = 0;
  bool operator==(const Counts&) const = default;
  auto operator<=>(const Counts&) const = default;
  std::uint32_t both() const { return forth + back; }
};

/// One iteration of the program.
struct Unit {
  std::uint32_t run = 0, number = 0;
  TimeNs begin = 0;
  Counts counts;
};

double prior(std::size_t n) { return static_cast<double>(n) / (static_cast<double>(n) + kPriorIterations); }

template <class T>
T median_of(std::vector<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The most common value and its share.
std::pair<Counts, double> most_common(std::vector<Counts> counts) {
  std::sort(counts.begin(), counts.end());
  Counts best;
  std::size_t most = 0;
  for (std::size_t begin = 0, end; begin < counts.size(); begin = end) {
    for (end = begin + 1; end < counts.size() && counts[end] == counts[begin]; ++end) {
    }
    if (end - begin > most) {
      most = end - begin;
      best = counts[begin];
    }
  }
  return {best, counts.empty() ? 0 : static_cast<double>(most) / static_cast<double>(counts.size())};
}

std::string range_of(const std::vector<Counts>& counts, std::uint32_t Counts::*side) {
  std::uint32_t least = ~0u, most = 0;
  for (const Counts& c : counts) {
    least = std::min(least, c.*side);
    most = std::max(most, c.*side);
  }
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::string ranges_of(const std::vector<Counts>& counts) {
  return fmt::format("{} forth and {} back", range_of(counts, &Counts::forth), range_of(counts, &Counts::back));
}

Model model_of(const Counts& unit) {
  if (unit.forth == 0 || unit.back == 0) return Model::unidirectional;
  return unit.forth == 1 && unit.back == 1 ? Model::alternating : Model::multiple;
}

std::string_view meaning_of(Model model) {
  switch (model) {
    case Model::unidirectional:
      return "one side always produces";
    case Model::alternating:
      return "one transfer each way";
    case Model::multiple:
      return "several transfers, the same counts every time";
    default:
      return "counts vary";
  }
}

/// Mean, and variance over that of thinning a constant count: 1 where a constant was thinned, more where it varies.
struct Spread {
  double most = 0, mean = 0, kept = 0, excess = 0;
  double least_excess = 0;  ///< by the least that may have been kept
};
Spread spread_of(const std::vector<Counts>& counts, std::uint32_t Counts::*side, const Completeness& there) {
  Spread spread;
  double sum = 0, squares = 0;
  for (const Counts& c : counts) {
    const double v = c.*side;
    spread.most = std::max(spread.most, v);
    sum += v;
    squares += v * v;
  }
  const auto n = static_cast<double>(counts.size());
  if (n == 0 || spread.most == 0) return spread;
  spread.mean = sum / n;
  // A whole iteration of many messages may never have been seen.
  const double expected = std::round(spread.mean / there.seen);
  if (expected <= 1.4 * spread.most) spread.most = std::max(spread.most, expected);
  spread.kept = spread.mean / spread.most;
  const double variance = std::max(0.0, squares / n - spread.mean * spread.mean);
  const double thinned = spread.mean * (1 - spread.kept);
  spread.excess = thinned > 1e-9 ? variance / thinned : 0;
  spread.least_excess = std::min(spread.excess, variance / std::max(spread.mean * (1 - there.least), 1e-9));
  return spread;
}

class Finder {
 public:
  Finder(const std::vector<Step>& steps, const Completeness& there) : steps_(steps), there_(there) {
    for (const Step& step : steps) ++(step.back ? all_.back : all_.forth);
  }

  Rhythm run() {
    const bool numbered = number_units();
    rhythm_.iterations_known = numbered;
    if (!numbered) unit_per_step();
    judge(numbered);
    return std::move(rhythm_);
  }

 private:
  bool whole() const { return there_.seen >= kWhole && there_.recorded >= kWholeRecord; }

  void judge(bool numbered) {
    if (steps_.empty()) {
      rhythm_.words = "no messages";
      return;
    }
    const double aside = static_cast<double>(std::min(all_.forth, all_.back)) / static_cast<double>(steps_.size());
    if (aside <= kAside && there_.recorded < kBothSides) {
      rhythm_.words =
          fmt::format("one side's messages only, but of all records only {} are there: the other side's may be lost",
                      format_percent(there_.recorded));
      return;
    }
    if (aside <= kAside) return one_way(numbered, aside);
    if (!numbered) return by_transfers();
    const auto single = static_cast<double>(
        std::count_if(units_.begin(), units_.end(), [](const Unit& u) { return u.counts.both() == 1; }));
    if (single >= kRegular * static_cast<double>(units_.size()) && whole()) return by_turns();
    if (!whole() && is_thin() && by_residues()) return;
    by_counts();
  }

  // --- what the program numbers as an iteration

  // Numbers the units by the program's iterations, where these follow the messages in time.
  bool number_units() {
    if (steps_.empty()) return false;
    std::vector<std::uint32_t> run(steps_.size());
    const auto [least, most] = std::minmax_element(
        steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.iteration < b.iteration; });
    const std::uint32_t overlap = std::clamp((most->iteration - least->iteration) / 8, kLeastOverlap, kMostOverlap);
    std::uint32_t now = 0, top = steps_[0].iteration, first = top;
    std::size_t strange = 0;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const std::uint32_t i = steps_[k].iteration;
      if (i + overlap < top) {
        if (i <= first + kFirstNumbers) {
          ++now;
          top = first = i;
        } else {
          ++strange;
        }
      } else if (i > top + std::max(kLeap, overlap)) {
        ++strange;
      }
      top = std::max(top, i);
      run[k] = now;
    }
    if (10 * strange > steps_.size() || 4 * std::size_t{now} > steps_.size()) return false;

    std::vector<std::uint32_t> order(steps_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(run[a], steps_[a].iteration) < std::tie(run[b], steps_[b].iteration);
    };
    if (!std::is_sorted(order.begin(), order.end(), earlier)) std::stable_sort(order.begin(), order.end(), earlier);
    rhythm_.unit.assign(steps_.size(), 0);
    for (const std::uint32_t k : order) {
      const Step& step = steps_[k];
      if (units_.empty() || units_.back().run != run[k] || units_.back().number != step.iteration) {
        units_.push_back({run[k], step.iteration, step.at, {}});
      }
      Unit& unit = units_.back();
      unit.begin = std::min(unit.begin, step.at);
      ++(step.back ? unit.counts.back : unit.counts.forth);
      rhythm_.unit[k] = static_cast<std::uint32_t>(units_.size() - 1);
    }
    if (units_.size() >= kMinIterations) return true;
    units_.clear();
    return false;
  }

  void unit_per_step() {
    rhythm_.unit.resize(steps_.size());
    std::iota(rhythm_.unit.begin(), rhythm_.unit.end(), 0u);
  }

  void take_program_period(std::size_t length = 1) {
    rhythm_.period.what =
        length == 1 ? std::string("the program's iteration") : fmt::format("{} of the program's iterations", length);
    std::vector<TimeNs> distances;
    for (std::size_t i = length; i < units_.size(); ++i) {
      const Unit &from = units_[i - length], &to = units_[i];
      if (from.run == to.run && to.number - from.number == length) distances.push_back(to.begin - from.begin);
    }
    rhythm_.period.ns = median_of(std::move(distances));
    rhythm_.period.count = units_.size() / length;
  }

  void one_way(bool numbered, double aside) {
    const std::size_t n = numbered ? units_.size() : steps_.size();
    if (numbered) {
      take_program_period();
    } else {
      take_transfers_period(1);
    }
    if (n < kMinIterations) return too_few(n, numbered);
    rhythm_.model = Model::unidirectional;
    rhythm_.confidence = prior(n) * (1 - 5 * aside);
    rhythm_.words =
        fmt::format("one side always produces: {} one way", count_of(std::max(all_.forth, all_.back), "transfer"));
    if (aside > 0) {
      rhythm_.words += fmt::format(" beside {} the other way", std::min(all_.forth, all_.back));
    } else {
      rhythm_.words += ", none back";
    }
    if (numbered) rhythm_.words += fmt::format("; {} of {}", count_of(n, "iteration"), ranges_of(all_counts()));
  }

  void too_few(std::size_t n, bool numbered) {
    rhythm_.words =
        fmt::format("{}; at least {} are needed", count_of(n, numbered ? "iteration" : "transfer"), kMinIterations);
  }

  std::vector<Counts> inner_counts() const {
    std::vector<Counts> counts;
    const bool trim = units_.size() >= kTrimFrom;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const bool first = i == 0 || units_[i - 1].run != units_[i].run;
      const bool last = i + 1 == units_.size() || units_[i + 1].run != units_[i].run;
      if (!trim || (!first && !last)) counts.push_back(units_[i].counts);
    }
    return counts.size() < kMinIterations ? all_counts() : counts;
  }
  std::vector<Counts> all_counts() const {
    std::vector<Counts> counts;
    for (const Unit& unit : units_) counts.push_back(unit.counts);
    return counts;
  }

  void by_counts() {
    const std::vector<Counts> counts = inner_counts();
    const auto [usual, share] = most_common(counts);
    const std::string part = format_percent(share);
    if (share >= kRegular) {
      take_program_period();
      rhythm_.model = model_of(usual);
      rhythm_.confidence = share * prior(counts.size());
      rhythm_.words = fmt::format("{}: {} forth and {} back in {} of {}", meaning_of(rhythm_.model), usual.forth,
                                  usual.back, part, count_of(counts.size(), "iteration"));
      if (usual.forth == usual.back && usual.forth > 1) look_for_turns_within(usual);
      return;
    }
    if (by_longer_iterations()) return;
    if (!whole()) return by_thinned_counts();
    if (in_phases(counts)) {
      rhythm_.words =
          fmt::format("the counts change from one part of the run to another ({} in an iteration)", ranges_of(counts));
      return;
    }
    if (by_shortest_repetition(kExact, 2 * kMostIterations)) return;
    take_program_period();
    rhythm_.model = Model::probabilistic;
    // Surer the less of the iterations any one count explains.
    rhythm_.confidence = std::min(1.0, (1 - share) / 0.5) * prior(counts.size());
    rhythm_.words = fmt::format(
        "direction and count vary: {} in an iteration; the most common count ({} forth, {} back) "
        "holds in {} of {} only",
        ranges_of(counts), usual.forth, usual.back, part, count_of(counts.size(), "iteration"));
  }

  // A few iterations of the program that only together have the same counts each time.
  bool by_longer_iterations() {
    if (!whole()) return false;
    for (std::size_t length = 2; length <= kMostIterations && units_.size() >= 4 * length; ++length) {
      std::size_t holds = 0;
      Counts sum;
      for (std::size_t at = 0; at < length; ++at) {
        std::vector<Counts> counts;
        for (std::size_t i = at; i < units_.size(); i += length) counts.push_back(units_[i].counts);
        const auto [usual, share] = most_common(counts);
        holds += static_cast<std::size_t>(std::lround(share * static_cast<double>(counts.size())));
        sum.forth += usual.forth;
        sum.back += usual.back;
      }
      const double share = static_cast<double>(holds) / static_cast<double>(units_.size());
      // Searches and solvers take about as many steps each time: only what is exactly so is no accident.
      if (share < kExact) continue;
      take_program_period(length);
      rhythm_.model = model_of(sum);
      rhythm_.confidence = 0.9 * share * prior(units_.size() / length);
      rhythm_.words =
          fmt::format("{}: {} forth and {} back in each {} iterations of the program, which {} of them keep to",
                      meaning_of(rhythm_.model), sum.forth, sum.back, length, format_percent(share));
      return true;
    }
    return false;
  }

  // Neighbours are alike, though not all are: several programs one after another.
  static bool in_phases(const std::vector<Counts>& counts) {
    std::size_t alike = 0;
    for (std::size_t i = 1; i < counts.size(); ++i) alike += counts[i] == counts[i - 1] ? 1 : 0;
    return counts.size() > 8 && static_cast<double>(alike) >= 0.8 * static_cast<double>(counts.size() - 1);
  }

  // --- some messages are missing

  // The program's iterations from the first to the last, those included of which nothing is left.
  std::vector<Counts> counts_with_gaps() const {
    std::vector<Counts> counts;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (i > 0 && units_[i].run == units_[i - 1].run) {
        const std::uint32_t gap = std::min(units_[i].number - units_[i - 1].number, kLeap);
        counts.insert(counts.end(), gap - 1, Counts{});
      }
      counts.push_back(units_[i].counts);
    }
    return counts;
  }

  bool is_thin() const {
    std::uint32_t most = 0;
    for (const Unit& unit : units_) most = std::max(most, unit.counts.both());
    return most <= 1;
  }

  void by_thinned_counts() {
    const std::vector<Counts> counts = counts_with_gaps();
    const Spread forth = spread_of(counts, &Counts::forth, there_);
    const Spread back = spread_of(counts, &Counts::back, there_);
    const auto [usual, share] = most_common(inner_counts());
    const bool kept_alike = std::abs(forth.kept - back.kept) <= 0.2;
    // Nothing of what is there exceeds a constant, and as much is there as the trace has of everything.
    const bool constant =
        forth.excess <= 1.6 && back.excess <= 1.6 && kept_alike && std::min(forth.kept, back.kept) >= there_.seen - 0.2;
    const bool in_stretches = share >= 0.5 && usual.forth >= forth.most && usual.back >= back.most;
    const std::string there = fmt::format(
        "{} forth and {} back at most in an iteration; {} and {} of that are there on "
        "average, where records are missing",
        forth.most, back.most, format_percent(forth.kept), format_percent(back.kept));
    take_program_period();
    if (constant || in_stretches) {
      rhythm_.model = model_of({static_cast<std::uint32_t>(forth.most), static_cast<std::uint32_t>(back.most)});
      rhythm_.confidence = (constant ? 0.9 : 0.75) * prior(counts.size());
      rhythm_.words = fmt::format("{}, as far as the records go: {}", meaning_of(rhythm_.model), there);
      return;
    }
    // Whole iterations that a full ring swallowed leave counts that vary as well.
    const bool swallowed = there_.recorded < kWholeRecord && std::min(forth.kept, back.kept) >= there_.recorded - 0.2;
    const double excess = std::max(forth.least_excess, back.least_excess);
    if (excess >= 2.5 && !in_stretches && !swallowed) {
      rhythm_.model = Model::probabilistic;
      rhythm_.confidence = 0.8 * prior(counts.size());
      rhythm_.words =
          fmt::format("direction and count vary more than losses explain ({:.1f} times as much): {}", excess, there);
      return;
    }
    rhythm_.words = "losses and counts that vary cannot be told apart: " + there;
  }

  // Numbers that count transfers rather than iterations: a class of numbers has one direction, whatever is missing.
  bool by_residues() {
    const std::size_t n = units_.size();
    for (std::size_t length = 2; length <= kMostTransfers && n >= 4 * length; ++length) {
      std::vector<Counts> classes(length);
      for (const Unit& unit : units_) {
        Counts& c = classes[unit.number % length];
        ++(unit.counts.back > 0 ? c.back : c.forth);
      }
      std::size_t pure = 0;
      Counts sum;
      bool all_there = true;
      for (const Counts& c : classes) {
        pure += std::max(c.forth, c.back);
        all_there = all_there && c.both() > 0;
        ++(c.back > c.forth ? sum.back : sum.forth);
      }
      const double share = static_cast<double>(pure) / static_cast<double>(n);
      if (!all_there || share < 0.97 || sum.forth == 0 || sum.back == 0) continue;
      rhythm_.model = model_of(sum);
      rhythm_.confidence = 0.9 * share * prior(n / length);
      take_program_period(length);
      rhythm_.period.count = n / length;
      rhythm_.words = fmt::format("{}: {} forth and {} back in each {} numbers, which {} of the transfers keep to",
                                  meaning_of(rhythm_.model), sum.forth, sum.back, length, format_percent(share));
      return true;
    }
    return false;
  }

  // --- by the order of the messages alone

  void take_transfers_period(std::size_t length) {
    rhythm_.period.what = count_of(length, "transfer");
    std::vector<TimeNs> distances;
    for (std::size_t i = length; i < steps_.size(); ++i) distances.push_back(steps_[i].at - steps_[i - length].at);
    rhythm_.period.ns = median_of(std::move(distances));
    rhythm_.period.count = steps_.size() / length;
  }

  // The program numbers its transfers, one number each.
  void by_turns() {
    if (by_shortest_repetition(kRegular, kMostTransfers) || irregular_order()) return;
    rhythm_.words = fmt::format("no repetition shows in {}", count_of(steps_.size(), "transfer"));
  }

  void by_transfers() {
    if (steps_.size() < 2 * kMinIterations) return too_few(steps_.size() / 2, true);
    if (!whole()) {
      rhythm_.words =
          "the program's numbers do not tell iterations apart, and too much is missing to find them by order";
      return;
    }
    if (by_shortest_repetition(kRegular, kMostTransfers)) {
      rhythm_.iterations_known = true;
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        rhythm_.unit[i] = static_cast<std::uint32_t>((i + unit_length_ - unit_start_) / unit_length_);
      }
      return;
    }
    if (irregular_order()) return;
    rhythm_.words = fmt::format("the program's numbers do not tell iterations apart, and no repetition shows in {}",
                                count_of(steps_.size(), "transfer"));
  }

  // Whether stretches without any order may well be so alike: by how likely a count is the most likely one (a binomial
  // distribution's peak, by Stirling), and by how many lengths and beginnings were tried.
  static bool by_chance(const Counts& unit, std::size_t stretches) {
    const double length = unit.both(), part = unit.back / length;
    const double alike = std::min(0.6, 1 / std::sqrt(6.28 * length * part * (1 - part)));
    return static_cast<double>(stretches - 1) * -std::log(alike) < std::log(length * length / 2) + 2;
  }

  // The shortest stretch that has the same counts each time, wherever it begins. Messages within it may come in any
  // order.
  bool by_shortest_repetition(double regular, std::size_t longest) {
    const std::size_t n = std::min<std::size_t>(steps_.size(), 100'000);
    std::vector<std::uint32_t> backs(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) backs[i + 1] = backs[i] + (steps_[i].back ? 1 : 0);
    std::vector<std::uint32_t> frequency;
    for (std::size_t length = 2; length <= longest && n >= kMinIterations * length; ++length) {
      for (std::size_t start = 0; start < length; ++start) {
        const std::size_t stretches = (n - start) / length;
        if (stretches < kMinIterations) continue;
        frequency.assign(length + 1, 0);
        for (std::size_t k = 0; k < stretches; ++k) {
          ++frequency[backs[start + (k + 1) * length] - backs[start + k * length]];
        }
        const auto most = std::max_element(frequency.begin(), frequency.end());
        const auto back = static_cast<std::uint32_t>(most - frequency.begin());
        const double share = static_cast<double>(*most) / static_cast<double>(stretches);
        if (share < regular || back == 0 || back == length) continue;
        const Counts unit{static_cast<std::uint32_t>(length) - back, back};
        if (by_chance(unit, stretches)) continue;
        unit_length_ = length;
        unit_start_ = start;
        take_transfers_period(length);
        rhythm_.model = model_of(unit);
        rhythm_.confidence = share * prior(stretches);
        rhythm_.words = fmt::format(
            "{}: the shortest repetition has {} forth and {} back, which {} of {} stretches of "
            "messages keep to",
            meaning_of(rhythm_.model), unit.forth, unit.back, format_percent(share), stretches);
        return true;
      }
    }
    return false;
  }

  // Probabilistic only where both the lengths of runs and the counts of long stretches vary as chance would have it: a
  // constant exchange whose messages overtake each other has only the first.
  bool irregular_order() {
    const std::size_t n = steps_.size();
    if (n < 16) return false;
    double least = 1e9;
    const double back = static_cast<double>(all_.back) / static_cast<double>(n);
    for (const std::size_t length : {8u, 16u, 32u, 64u}) {
      if (n / length < 4) break;
      double sum = 0, squares = 0;
      const std::size_t stretches = n / length;
      for (std::size_t k = 0; k < stretches; ++k) {
        double count = 0;
        for (std::size_t i = k * length; i < (k + 1) * length; ++i) count += steps_[i].back ? 1 : 0;
        sum += count;
        squares += count * count;
      }
      const double mean = sum / static_cast<double>(stretches);
      const double variance = squares / static_cast<double>(stretches) - mean * mean;
      least = std::min(least, variance / (static_cast<double>(length) * back * (1 - back)));
    }
    std::vector<double> runs;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == 0 || steps_[i].back != steps_[i - 1].back) runs.push_back(0);
      ++runs.back();
    }
    double sum = 0, squares = 0;
    for (const double run : runs) {
      sum += run;
      squares += run * run;
    }
    const double mean = sum / static_cast<double>(runs.size());
    const double spread = std::sqrt(std::max(0.0, squares / static_cast<double>(runs.size()) - mean * mean)) / mean;
    if (least > 1e8 || least < 0.35 || spread < 0.35 || runs.size() < 8) return false;
    rhythm_.model = Model::probabilistic;
    rhythm_.confidence = std::min(0.95, 0.55 + 0.4 * std::min(least, 1.0)) * prior(runs.size());
    rhythm_.period.count = 0;
    rhythm_.words = fmt::format(
        "direction and count vary: no stretch of up to {} messages repeats, and the direction turns "
        "after {} to {} messages, {:.1f} on average",
        kMostTransfers, *std::min_element(runs.begin(), runs.end()), *std::max_element(runs.begin(), runs.end()), mean);
    return true;
  }

  // Each transfer was sent by who had just received the one before: a game of ping-pong, of which the program numbers
  // several exchanges alike.
  void look_for_turns_within(const Counts& usual) {
    std::size_t chained = 0;
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      const Step &previous = steps_[i - 1], &next = steps_[i];
      const bool answers =
          previous.back != next.back && previous.received != 0 && previous.received <= next.at &&
          (previous.receiver == next.sender || previous.receiver == Step::kNobody || next.sender == Step::kNobody);
      chained += answers ? 1 : 0;
    }
    const double share = static_cast<double>(chained) / static_cast<double>(steps_.size() - 1);
    if (share < 0.97) return;
    rhythm_.model = Model::alternating;
    rhythm_.confidence = share * prior(steps_.size() / 2);
    rhythm_.words = fmt::format(
        "one transfer each way: {} of the transfers answer the one before, though the program "
        "numbers {} exchanges alike",
        format_percent(share), usual.forth);
    take_transfers_period(2);
  }

  const std::vector<Step>& steps_;
  const Completeness there_;
  Counts all_;
  std::vector<Unit> units_;
  std::size_t unit_length_ = 1, unit_start_ = 0;
  Rhythm rhythm_;
};

}  // namespace

std::string_view model_name(Model model) {
  switch (model) {
    case Model::unidirectional:
      return "unidirectional";
    case Model::alternating:
      return "alternating";
    case Model::multiple:
      return "multiple";
    case Model::probabilistic:
      return "probabilistic";
    case Model::unknown:
      break;
  }
  return "unknown";
}

std::string_view pattern_name(Pattern pattern) {
  switch (pattern) {
    case Pattern::streaming:
      return "streaming";
    case Pattern::adjacent:
      return "adjacent";
    case Pattern::scatter_gather:
      return "scatter-gather";
    case Pattern::random:
      return "random";
    case Pattern::unknown:
      break;
  }
  return "unknown";
}

Rhythm find_rhythm(const std::vector<Step>& steps, const Completeness& there) { return Finder(steps, there).run(); }

}  // namespace wicprof::analyzer
