// How well the autopilot's rule (cli/record/auto_rule.h) decides, in made programs (bench/autopilot/program.h). Half of
// the programs served to choose the rule's constants; the other half only judges. The rule is the one that wic-prof run
// --auto follows; the program, its clock and the switch are made: a change takes effect within 1 ms, and the rule looks
// every 5 ms while it measures and every 50 ms else, as AutoRun does.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "bench/autopilot/program.h"
#include "bench/claim.h"
#include "cli/record/auto_rule.h"

namespace {

using namespace wicprof;
using namespace wicprof::bench;
using cli::AutoDecision;
using cli::AutoRule;

constexpr std::int64_t kPrograms = 300;
constexpr std::int64_t kSeconds = 3600;
constexpr std::uint64_t kJudging = 9'000'000;  // seeds that were never looked at before the rule was as it is
constexpr TimeNs kHarm = 10 * kSecond;
constexpr double kHarmful = 1 / 1.02;  // the comparison takes a smaller change for none
constexpr double kClearGain = 1.05;
/// Control blocks of longer units are further apart (AutoRule::busy_before_control()).
constexpr TimeNs kShortUnit = 4 * kMillisecond;
constexpr std::size_t kMaxKept = 4096;  // as the meter of units keeps

struct Outcome {
  ProgramKind kind = ProgramKind::equal;
  bool equal = false, gains = false;
  TimeNs unit = 0;
  std::size_t keeps = 0, back = 0, trials = 0;
  bool kept_at_end = false;
  double first_keep_s = -1;
  double longest_harm_s = 0;  ///< parking is kept, and slower than polling by more than the tolerance
  /// The better fixed mode is the faster one; but polling, where parking has a longer tail than the rule may keep.
  double distance = 1;  ///< time per unit, expected, over that of the better fixed mode
  double tail = 1;      ///< p99 of the units over that of the better fixed mode
};

/// The 99th percentile of the units of a run that waits in one way.
TimeNs p99_of_fixed(MadeProgram program, Mode mode, TimeNs length) {
  std::vector<TimeNs> units;
  for (TimeNs now = 0; now < length;) {
    const MadeProgram::Unit unit = program.next(mode, now);
    now += unit.pause + unit.length;
    units.push_back(unit.length);
  }
  return analyzer::percentile_in_place(units, 99);
}

/// Units that are expected in that time, per mode and as it was.
struct Work {
  double polled = 0, parked = 0, done = 0;

  void add(const MadeProgram& program, Mode mode, TimeNs at, TimeNs length) {
    const auto time = static_cast<double>(length);
    const double poll = time / program.expected(Mode::poll, at), park = time / program.expected(Mode::park, at);
    polled += poll, parked += park;
    done += mode == Mode::poll ? poll : park;
  }
};

/// Follows one run with the rule.
class Run {
 public:
  Run(std::uint64_t seed, TimeNs length) : program_(seed, length), length_(length), rule_({seed, 0}) {}

  Outcome follow() {
    const MadeProgram fresh = program_;
    outcome_.kind = program_.kind();
    outcome_.equal = program_.is_equal();
    outcome_.unit = program_.usual_unit();
    outcome_.gains = !program_.has_worse_tail() && !program_.changes_sign() && program_.ratio(0) >= kClearGain;
    while (now_ < length_) step();
    outcome_.kept_at_end = rule_.keeps();
    const auto polled = static_cast<double>(p99_of_fixed(fresh, Mode::poll, length_));
    const auto parked = static_cast<double>(p99_of_fixed(fresh, Mode::park, length_));
    const bool park_is_better = work_.parked > work_.polled && parked <= cli::kMaxTail * polled;
    outcome_.distance = (park_is_better ? work_.parked : work_.polled) / work_.done;
    outcome_.tail = static_cast<double>(analyzer::percentile_in_place(all_, 99)) / (park_is_better ? parked : polled);
    return outcome_;
  }

 private:
  void step() {
    const MadeProgram::Unit unit = program_.next(mode_, now_);
    // Looks during the unit, too: a phase may end before it does.
    const TimeNs end = now_ + unit.pause + unit.length;
    work_.add(program_, mode_, now_ + unit.pause, unit.length);
    for (; next_look_ <= end; next_look_ += rule_.is_busy() ? 5 * kMillisecond : 50 * kMillisecond) look(next_look_);
    now_ = end;
    all_.push_back(unit.length);
    if (skip_ > 0) {
      --skip_;  // in progress at the change
    } else if (units_.size() < kMaxKept) {
      units_.push_back(unit.length);
    }
  }

  void look(TimeNs at) {
    if (const std::optional<Mode> next = rule_.look(at, units_)) {
      mode_ = *next;  // from the next unit on
      rule_.switched(at + kMillisecond);
      units_.clear();
      skip_ = 1;
    }
    for (const AutoDecision& decision : rule_.take_decisions()) take(decision);
    const bool harms = rule_.keeps() && program_.ratio(at) < kHarmful;
    if (!harms) harm_since_ = at;
    outcome_.longest_harm_s =
        std::max(outcome_.longest_harm_s, static_cast<double>(at - harm_since_) / static_cast<double>(kSecond));
  }

  void take(const AutoDecision& decision) {
    if (decision.kind == DecisionKind::trial) ++outcome_.trials;
    if (decision.kind == DecisionKind::go_back) ++outcome_.back;
    if (decision.kind != DecisionKind::keep) return;
    if (outcome_.keeps++ == 0) outcome_.first_keep_s = static_cast<double>(decision.at) / static_cast<double>(kSecond);
  }

  MadeProgram program_;
  TimeNs length_;
  AutoRule rule_;
  Mode mode_ = Mode::poll;
  TimeNs now_ = 0, next_look_ = 0, harm_since_ = 0;
  std::size_t skip_ = 0;
  std::vector<TimeNs> units_, all_;
  Work work_;
  Outcome outcome_;
};

/// The value that the share `part` of the others does not exceed.
double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

class Rows {
 public:
  Rows(Claim& claim, std::string half, std::int64_t seconds)
      : claim_(claim), half_(std::move(half)), seconds_(seconds) {}

  /// The share of `of` for which `is` holds; no bar at 1.
  template <class Is>
  void share(const std::string& name, const std::vector<Outcome>& of, const std::string& what, double bar, Is is) {
    if (of.empty()) return;
    const auto count = static_cast<double>(std::count_if(of.begin(), of.end(), is));
    ClaimRow row{half_ + "_" + name, params(of), count, "programs"};
    row.compared_to = what;
    row.ratio = count / static_cast<double>(of.size());
    row.at_most = true;
    if (half_ == "judge" && bar < 1) row.bar = bar;
    claim_.add(row);
  }

  /// A quantile of the values; a bar where it is above 0.
  template <class Get>
  void spread(const std::string& name, const std::vector<Outcome>& of, const std::string& unit, double part, double bar,
              Get get) {
    if (of.empty()) return;
    std::vector<double> values;
    for (const Outcome& outcome : of) values.push_back(get(outcome));
    ClaimRow row{half_ + "_" + name, params(of), quantile(values, part), unit};
    if (bar > 0) {
      row.compared_to = "the better fixed mode";
      row.ratio = row.value;
      row.at_most = true;
      if (half_ == "judge") row.bar = bar;
    }
    claim_.add(row);
  }

 private:
  std::map<std::string, Parameter> params(const std::vector<Outcome>& of) const {
    return {{"half", half_}, {"programs", static_cast<std::int64_t>(of.size())}, {"seconds", seconds_}};
  }

  Claim& claim_;
  std::string half_;
  std::int64_t seconds_;
};

void add_rows(Claim& claim, const std::string& half, std::int64_t seconds, const std::vector<Outcome>& all) {
  Rows rows(claim, half, seconds);
  const auto some = [&](auto is) {
    std::vector<Outcome> chosen;
    std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), is);
    return chosen;
  };
  const auto harmed = [](const Outcome& o) { return o.longest_harm_s > static_cast<double>(kHarm) / kSecond; };
  rows.share("equal_kept", some([](const Outcome& o) { return o.equal; }), "all programs with equal modes", 0.01,
             [](const Outcome& o) { return o.keeps > 0; });
  rows.share("harm_above_10_s_short", some([](const Outcome& o) { return o.unit <= kShortUnit; }),
             "all programs with units of at most 4 ms", 0.01, harmed);
  rows.share("harm_above_10_s_long", some([](const Outcome& o) { return o.unit > kShortUnit; }),
             "all programs with longer units", 1, harmed);
  const std::vector<Outcome> gains = some([](const Outcome& o) { return o.gains; });
  rows.share("gain_never_kept", gains, "all programs that gain 1.05 or more throughout", 0.1,
             [](const Outcome& o) { return o.keeps == 0; });
  const std::vector<Outcome> kept = some([](const Outcome& o) { return o.gains && o.keeps > 0; });
  for (const auto& [name, part] : {std::pair("p50", 0.5), std::pair("p90", 0.9)}) {
    rows.spread(std::string("time_to_keep_") + name, kept, "s", part, 0,
                [](const Outcome& o) { return o.first_keep_s; });
  }
  rows.share("gain_given_up", kept, "those of them that were kept", 0.05, [](const Outcome& o) { return o.back > 0; });
  for (const auto& [name, part] : {std::pair("p50", 0.5), std::pair("p95", 0.95), std::pair("worst", 1.0)}) {
    rows.spread(std::string("distance_") + name, all, "ratio", part, 1.02, [](const Outcome& o) { return o.distance; });
    rows.spread(std::string("tail_") + name, all, "ratio", part, 1.02, [](const Outcome& o) { return o.tail; });
  }
  for (const ProgramKind kind : kProgramKinds) {
    const std::vector<Outcome> of = some([&](const Outcome& o) { return o.kind == kind; });
    const std::string name = kind_name(kind);
    rows.share(name + "_harm_above_10_s", of, "programs of that kind", 1, harmed);
    rows.spread(name + "_longest_harm_p99", of, "s", 0.99, 0, [](const Outcome& o) { return o.longest_harm_s; });
    rows.spread(name + "_distance_worst", of, "ratio", 1, 1.02, [](const Outcome& o) { return o.distance; });
    rows.spread(name + "_tail_p95", of, "ratio", 0.95, 1.02, [](const Outcome& o) { return o.tail; });
    rows.share(name + "_tail_above_1.02", of, "programs of that kind", 1,
               [](const Outcome& o) { return o.tail > cli::kMaxTail; });
    rows.spread(name + "_trials", of, "trials per program, median", 0.5, 0,
                [](const Outcome& o) { return static_cast<double>(o.trials); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("autopilot", "How well the rule of wic-prof run --auto decides, in made programs.", argc, argv);
  const std::int64_t programs = claim.option("programs", kPrograms);
  const std::int64_t seconds = claim.option("seconds", kSeconds);
  const std::string half = claim.option("half", "both");
  for (const bool judging : {false, true}) {
    if (half != "both" && (half == "judge") != judging) continue;
    std::vector<Outcome> all;
    for (std::int64_t i = 0; i < programs; ++i)
      all.push_back(Run(static_cast<std::uint64_t>(i) + (judging ? kJudging : 0), seconds * kSecond).follow());
    add_rows(claim, judging ? "judge" : "tune", seconds, all);
  }
  return claim.write();
}
