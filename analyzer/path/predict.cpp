#include "analyzer/path/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/measure/step_count.h"
#include "analyzer/path/handed_on.h"
#include "analyzer/path/host_room.h"
#include "analyzer/path/prediction_constants.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

namespace known = calibration;

/// The sleep of a group's parked leader (nap_ns() in wic/strategies/strategy.h): none for 125 us, then a 512th of the
/// wait so far, from 250 us on a 128th, at most 8 us.
constexpr double kAwakeNs = 125e3, kLongWaitNs = 250e3, kLongestSleepNs = 8e3;
constexpr double kSleepPart = 1.0 / 512, kLongSleepPart = 1.0 / 128;

/// The mean latency of a sleeping leader: on average the signal comes in the middle of a sleep.
double mean_oversleep_ns(double wait_ns) {
  double sleep = 0;
  if (wait_ns > kAwakeNs) sleep = wait_ns * kSleepPart;
  if (wait_ns > kLongWaitNs) sleep = std::min(kLongestSleepNs, wait_ns * kLongSleepPart);
  return sleep / 2;
}

/// The length, when parked, of a wake-up that took `polled_ns` after waits of that mean length.
double wake_when_parked(const SiteStats& site, double pollers, double polled_ns, double wait_ns) {
  const bool host = site.word_memory == WordMemory::pinned_host;
  if (host && on_one_word(site) && pollers >= known::kCongestedFrom) {
    return std::min(polled_ns, static_cast<double>(known::kWakeWatchedHostWord));
  }
  return polled_ns + static_cast<double>(known::kWakeParked - known::kWakePolled) + mean_oversleep_ns(wait_ns);
}

/// The model's input from a polled site.
struct Polled {
  std::map<DeviceId, StepCount> pollers;
  double per_word = 0;  ///< as SitePrediction::pollers_per_word
  double mean_wait_ns = 0;
  std::uint64_t waits = 0;
  std::optional<SlowdownRange> slowdown;
  bool congests_host = false;  ///< its pollers delay all accesses to host memory
};

/// The times in which the program polls.
class PollingTimes {
 public:
  explicit PollingTimes(std::vector<Interval> times) : times_(std::move(times)) {}
  /// The part of [begin, end) in these times.
  TimeNs within(TimeNs begin, TimeNs end) const {
    TimeNs sum = 0;
    auto at =
        std::upper_bound(times_.begin(), times_.end(), begin, [](TimeNs t, const Interval& i) { return t < i.end; });
    for (; at != times_.end() && at->begin < end; ++at) sum += std::min(end, at->end) - std::max(begin, at->begin);
    return sum;
  }
  bool empty() const { return times_.empty(); }

 private:
  std::vector<Interval> times_;
};

/// The spans of those iterations that lie in one of `times` as a whole, neighbours joined; `times` if there are none.
/// All lists are in order of time.
std::vector<Interval> of_whole_iterations(const std::vector<Interval>& times,
                                          const std::vector<Iteration>& iterations) {
  std::vector<Interval> result;
  std::size_t at = 0;
  for (const Iteration& iteration : iterations) {
    while (at < times.size() && times[at].end < iteration.end) ++at;
    if (at == times.size()) break;
    if (iteration.begin < times[at].begin) continue;
    if (!result.empty() && iteration.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, iteration.end);
    } else {
      result.push_back({iteration.begin, iteration.end});
    }
  }
  return result.empty() ? times : result;
}

/// The part of work's length that remains when the site parks.
double remaining(double exposed, double slowdown) { return 1 - exposed * (1 - 1 / slowdown); }

class Predictor {
 public:
  Predictor(const TraceModel& model, const CriticalPath& path, const Modes& modes, const std::vector<SiteStats>& stats,
            const std::vector<Iteration>& iterations)
      : model_(model), path_(path), modes_(modes), stats_(stats), iterations_(iterations) {}

  Prediction run() {
    gather_polled();
    for (const SiteStats& site : stats_) result_.sites.push_back(predict_site(site));
    follow_path();
    conclude();
    return std::move(result_);
  }

 private:
  enum End { kValue, kLow, kHigh, kEnds };

  void gather_polled() {
    std::map<std::pair<SiteId, DeviceId>, std::vector<Interval>> intervals;
    std::pair<SiteId, DeviceId> last_key{};
    std::vector<Interval>* last = nullptr;
    const bool both = modes_.both();
    for (const store::WaitRow& wait : model_.waits) {
      // A wait that began polling counts up to its end, even if a toggle switched it in between.
      if (both && modes_.at(wait.site, wait.arrived) != Mode::poll) continue;
      if (!every_waiter_polls(wait.strategy) && wait.strategy != StrategyId::naive && !wait.switched) continue;
      if (wait.strategy == StrategyId::backoff) continue;  // a way of parking
      const std::pair key{wait.site, wait.device};
      if (last == nullptr || key != last_key) {
        last = &intervals[key];
        last_key = key;
      }
      last->push_back({wait.arrived, std::max(wait.arrived, wait.resumed)});
    }
    for (auto& [key, list] : intervals) {
      Polled& polled = polled_[key.first];
      for (const Interval& wait : list) polled.mean_wait_ns += static_cast<double>(wait.end - wait.begin);
      polled.waits += list.size();
      polled.pollers.emplace(key.second, StepCount(list));
    }
    for (auto& [site, polled] : polled_) polled.mean_wait_ns /= static_cast<double>(polled.waits);
  }

  bool polls_at_some_time(const SiteStats& site) const {
    if (modes_.both()) return true;
    return modes_.at(site.site, model_.begin) == Mode::poll;
  }

  /// The mean number of pollers per word of one device, while there are any.
  double pollers_per_word(const SiteStats& site, const Polled& polled) const {
    double most = 0;
    for (const auto& [device, pollers] : polled.pollers) {
      const double covered = pollers.covered(model_.begin, model_.end);
      if (covered <= 0) continue;
      double mean = pollers.mean(model_.begin, model_.end) / covered;
      if (site.pollers == Pollers::each_thread) {
        const store::DeviceRow* row = model_.device(device);
        mean /= std::max<double>(1, row != nullptr && row->sm_count > 0 ? row->sm_count : site.sms);
      } else if (!on_one_word(site)) {
        // By the words' tags, otherwise as declared: one word per waiter.
        mean = std::min(mean, static_cast<double>(site.waiters_per_word.value_or(1)));
      }
      most = std::max(most, mean);
    }
    return most;
  }

  SitePrediction predict_site(const SiteStats& site) {
    SitePrediction prediction;
    prediction.site = site.site;
    const auto found = polled_.find(site.site);
    const auto refuse = [&](std::string why) {
      prediction.reason = prediction.break_even_reason = std::move(why);
      return prediction;
    };
    if (site.strategies.empty()) return refuse("only CPU threads wait here; the model covers waits inside kernels");
    if (found == polled_.end() || !polls_at_some_time(site)) {
      return refuse("no waiter polled here: record the program with --mode poll");
    }
    Polled& polled = found->second;
    if (polled.pollers.begin()->first >= kSimtDeviceBase) {
      return refuse("the waits ran on the CPU device, which does not model a GPU's performance");
    }
    prediction.pollers_per_word = polled.per_word = pollers_per_word(site, polled);
    if (handed_on_.contains(site.site)) {
      return refuse(
          "the waiters hand the word on to each other, as at a lock or a queue, and how fast that goes parked is "
          "not modelled");
    }
    std::string why;
    polled.slowdown = slowdown_beside(site, polled.per_word, why);
    if (!polled.slowdown) return refuse(why);
    polled.congests_host =
        site.word_memory == WordMemory::pinned_host && on_one_word(site) && polled.per_word >= known::kCongestedFrom;
    if (!path_.missing.empty()) {
      prediction.reason = "no critical path: " + path_.missing;
    } else {
      prediction.reason = fmt::format(
          "{:.3g} {}; {}; the interval spans work of every kind measured, from computing to L2 latency",
          polled.per_word, site.pollers == Pollers::each_thread ? "polling warps per SM" : "pollers per word",
          polled.slowdown->from);
    }
    break_even(site, polled, prediction);
    return prediction;
  }

  /// Parking costs `late` of latency per wait and saves 1 - 1/S of the concurrent work per nanosecond waited, so it
  /// pays from late / (1 - 1/S) on.
  static void break_even(const SiteStats& site, const Polled& polled, SitePrediction& prediction) {
    const double s = polled.slowdown->by_work.value;
    const double late = wake_when_parked(site, polled.per_word, static_cast<double>(known::kWakePolled), 0) -
                        static_cast<double>(known::kWakePolled);
    if (late <= 0) {
      prediction.break_even_ns = known::kShortestBreakEven;
      prediction.break_even_reason = "the shortest wait that was measured; here parking wakes up no later than polling";
      return;
    }
    if (s <= 1) {
      prediction.break_even_reason = "no length: no measurement shows that such pollers slow concurrent work";
      return;
    }
    const double length = late / (1 - 1 / s);
    prediction.break_even_ns = std::max(known::kShortestBreakEven, static_cast<TimeNs>(length));
    prediction.break_even_reason =
        fmt::format("parking wakes up {} later and saves {:.3g} of the time of concurrent work",
                    format_duration(static_cast<TimeNs>(late)), 1 - 1 / s);
  }

  /// Over the pollers of one site, per device, in order of time.
  using Cursors = std::map<DeviceId, StepCount::Cursor>;

  static double slowdown_at(const Polled& polled, End end) {
    const Gain& s = polled.slowdown->by_work;
    return end == kValue ? s.value : end == kLow ? s.low : s.high;
  }

  void follow_path() {
    if (!path_.missing.empty()) return;
    const PollingTimes times(of_whole_iterations(modes_.when(0, Mode::poll), iterations_));
    saved_.assign(result_.sites.size(), {});
    std::vector<Cursors> cursors(stats_.size());
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      if (const Polled* polled = modelled(i)) {
        for (const auto& [device, pollers] : polled->pollers) cursors[i].emplace(device, pollers);
      }
    }
    for (const PathSegment& segment : path_.segments) {
      const auto length = static_cast<double>(times.within(segment.begin, segment.end));
      if (length <= 0) continue;
      total_ += length;
      if (segment.kind == PathKind::device_work) {
        add_work(segment, length, cursors);
      } else if (segment.kind == PathKind::wake) {
        add_wake(segment, length);
      } else if (segment.kind != PathKind::copy) {
        add_host_side(length);
      }
    }
  }

  void add_work(const PathSegment& segment, double length, std::vector<Cursors>& cursors) {
    double left[kEnds] = {1, 1, 1};
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      const auto pollers = cursors[i].find(segment.device);
      if (pollers == cursors[i].end()) continue;
      const double exposed = pollers->second.covered(segment.begin, segment.end);
      if (exposed <= 0) continue;
      result_.sites[i].exposed += exposed * length;
      for (const End end : {kValue, kLow, kHigh}) {
        const double part = remaining(exposed, slowdown_at(*modelled(i), end));
        saved_[i][end] += length * (1 - part);
        left[end] *= part;
      }
    }
    for (const End end : {kValue, kLow, kHigh}) all_saved_[end] += length * (1 - left[end]);
  }

  void add_wake(const PathSegment& segment, double length) {
    double saved = 0;
    std::size_t at = stats_.size();
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      const Polled* polled = modelled(i);
      if (polled == nullptr) continue;
      if (stats_[i].site == segment.site && segment.device != kHostDevice) {
        saved = length - wake_when_parked(stats_[i], polled->per_word, length, polled->mean_wait_ns);
        at = i;
        break;
      }
      // Another site's wake-up through host memory, while this site's pollers congest the way to it.
      const store::SiteRow* other = model_.site(segment.site);
      const bool through_host = other != nullptr && other->word_memory == WordMemory::pinned_host;
      if (polled->congests_host && through_host && length > static_cast<double>(known::kWakeWatchedHostWord)) {
        saved = length - static_cast<double>(known::kWakeWatchedHostWord);
        at = i;
      }
    }
    if (at == stats_.size()) return;
    // The bus is as congested beside compute-bound work, so the wake-up changes at both ends of the interval.
    for (const End end : {kValue, kLow, kHigh}) {
      saved_[at][end] += saved;
      all_saved_[end] += saved;
    }
  }

  /// Launches, returns and host work may become shorter, too.
  void add_host_side(double length) {
    const double saved = length * (1 - 1 / known::kHostSlowed);
    bool congested = false;
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      const Polled* polled = modelled(i);
      if (polled == nullptr || !polled->congests_host) continue;
      saved_[i][kHigh] += saved;
      congested = true;
    }
    if (congested) all_saved_[kHigh] += saved;
  }

  const Polled* modelled(std::size_t i) const {
    const auto found = polled_.find(stats_[i].site);
    return found == polled_.end() || !found->second.slowdown ? nullptr : &found->second;
  }

  Gain gain_of(const std::array<double, kEnds>& saved) const {
    const auto ratio = [&](double part) { return total_ / std::max(total_ - part, total_ * 1e-6); };
    Gain gain{ratio(saved[kValue]), ratio(saved[kLow]), ratio(saved[kHigh])};
    // What bounds the work gives the ends; recordings of one program differ beyond them.
    gain = {gain.value, std::min({gain.low, gain.value, gain.high}) / known::kMinSpread,
            std::max({gain.low, gain.value, gain.high}) * known::kMinSpread};
    return gain;
  }

  /// Whether no value of the interval is further from the answer than an answer may be.
  static bool certain(const Gain& gain) {
    return gain.high <= gain.value * known::kMostError && gain.value <= gain.low * known::kMostError;
  }

  /// Why there is no answer although the bounds are known.
  static std::string open_reason(const Gain& bounds) {
    return fmt::format("{}, depending on what bounds the work beside the pollers",
                       comparative_interval_text(1 / bounds.high, 1 / bounds.low));
  }

  /// What the bounds of the whole program depend on, besides the work beside pollers.
  static std::string room_reason(const Gain& bounds, const HostRoom& room) {
    return fmt::format("{}, depending on whether polling took the CPUs that threads lacked for up to {} of the time",
                       comparative_interval_text(1 / bounds.high, 1 / bounds.low), format_percent(room.lacking));
  }

  void conclude() {
    result_.path_ns = static_cast<TimeNs>(total_);
    if (!path_.missing.empty()) {
      result_.reason = "no critical path: " + path_.missing;
      return;
    }
    std::string refused;
    bool any = false;
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      SitePrediction& site = result_.sites[i];
      if (modelled(i) != nullptr && total_ > 0) {
        site.bounds = gain_of(saved_[i]);
        if (certain(*site.bounds)) {
          site.gain = site.bounds;
        } else {
          site.reason = fmt::format("{}; {}", open_reason(*site.bounds), site.reason);
        }
        site.exposed /= total_;
        any = true;
      } else if (polled_.contains(stats_[i].site) && refused.empty()) {
        refused = fmt::format("{}: {}", one_line(stats_[i].name), site.reason);
      }
    }
    if (!refused.empty()) {
      result_.reason = refused;
    } else {
      conclude_program(any);
    }
  }

  /// Of the whole program: work beside pollers (`any` site in kernels), and CPUs that polling host threads take.
  void conclude_program(bool any) {
    const std::optional<HostRoom> room = host_room(model_, modes_.when(0, Mode::poll));
    if (!any && !room) {
      result_.reason =
          model_.waits.empty() ? "no wait inside a kernel was recorded" : "no waiter inside a kernel polled";
      return;
    }
    Gain bounds = any ? gain_of(all_saved_) : Gain{1, 1 / known::kMinSpread, known::kMinSpread};
    const bool decides = certain(bounds);
    if (room) bounds = {bounds.value * room->gain.value, bounds.low * room->gain.low, bounds.high * room->gain.high};
    result_.bounds = bounds;
    if (!decides) {
      result_.reason = fmt::format("{}, which polling does not show", open_reason(bounds));
    } else if (!certain(bounds)) {
      result_.reason = room_reason(bounds, *room);
    } else {
      result_.program = bounds;
      result_.reason = any ? fmt::format("parking would save {1} of the {0} on the critical path while polling",
                                         format_duration(result_.path_ns),
                                         format_duration(static_cast<TimeNs>(std::max(0.0, all_saved_[kValue]))))
                           : fmt::format(
                                 "host threads poll, and no other thread lacked a CPU for more than {} of the "
                                 "time",
                                 format_percent(room->lacking));
    }
  }

  const TraceModel& model_;
  const CriticalPath& path_;
  const Modes& modes_;
  const std::vector<SiteStats>& stats_;
  const std::vector<Iteration>& iterations_;
  const std::set<SiteId> handed_on_ = handed_on_sites(model_, stats_);
  std::map<SiteId, Polled> polled_;
  std::vector<std::array<double, kEnds>> saved_;  // by site
  std::array<double, kEnds> all_saved_{};
  double total_ = 0;
  Prediction result_;
};

}  // namespace

Prediction predict(const TraceModel& model, const CriticalPath& path, const Modes& modes,
                   const std::vector<SiteStats>& stats, const std::vector<Iteration>& iterations) {
  return Predictor(model, path, modes, stats, iterations).run();
}

Prediction predict(const TraceModel& model, const CriticalPath& path, const Modes& modes,
                   const std::vector<SiteStats>& stats) {
  const std::vector<Iterations> found = find_iterations(model);
  return predict(model, path, modes, stats, found.empty() ? std::vector<Iteration>{} : found.front().list);
}

double prediction_error(const Gain& predicted, double measured) { return (predicted.value - measured) / measured; }

}  // namespace wicprof::analyzer
