#include "analyzer/path/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analyzer/measure/step_count.h"
#include "analyzer/path/prediction_constants.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

namespace known = calibration;

/// Between two anchors in proportion to the logarithms; beyond the last as the last, before the first as the first.
double between(std::span<const known::Slowdown> anchors, double pollers, double known::Slowdown::*bound) {
  if (pollers <= anchors.front().pollers) return anchors.front().*bound;
  if (pollers >= anchors.back().pollers) return anchors.back().*bound;
  std::size_t i = 1;
  while (anchors[i].pollers < pollers) ++i;
  const known::Slowdown& a = anchors[i - 1];
  const known::Slowdown& b = anchors[i];
  if (a.pollers <= 0) {  // in proportion
    const double part = (pollers - a.pollers) / (b.pollers - a.pollers);
    return a.*bound + part * (b.*bound - a.*bound);
  }
  const double part = std::log(pollers / a.pollers) / std::log(b.pollers / a.pollers);
  return std::exp(std::log(a.*bound) + part * (std::log(b.*bound) - std::log(a.*bound)));
}

SlowdownRange range_of(std::span<const known::Slowdown> anchors, double pollers, double spread, std::string from) {
  SlowdownRange range;
  const double values[] = {
      between(anchors, pollers, &known::Slowdown::compute), between(anchors, pollers, &known::Slowdown::shared_memory),
      between(anchors, pollers, &known::Slowdown::streaming), between(anchors, pollers, &known::Slowdown::l2_latency)};
  range.by_work.value = values[2];
  range.by_work.low = std::min(*std::min_element(std::begin(values), std::end(values)), values[2] / spread);
  range.by_work.high = *std::max_element(std::begin(values), std::end(values));
  range.from = std::move(from);
  return range;
}

bool on_one_word(const SiteStats& site) { return site.words_seen ? *site.words_seen == 1 : site.words == 1; }

/// A group's parked leader looks without a pause for 50 us, then sleeps a 512th of the wait so far, from 250 us on a
/// 128th, 8 us at most (wic/strategies/leader_bar_sync.h). On the mean the signal comes in the middle of a sleep.
double parked_wake_ns(double wait_ns) {
  constexpr double kAtOnce = 50e3, kLong = 250e3, kLongest = 8e3;
  double sleep = 0;
  if (wait_ns > kAtOnce) sleep = wait_ns / 512;
  if (wait_ns > kLong) sleep = std::min(kLongest, wait_ns / 128);
  return sleep / 2;
}

/// How long parking leaves a wake-up that took `polled_ns`, of a wait of that mean length.
double wake_when_parked(const SiteStats& site, double pollers, double polled_ns, double wait_ns) {
  const bool host = site.word_memory == WordMemory::pinned_host;
  if (host && on_one_word(site) && pollers >= known::kCongestedFrom) {
    return std::min(polled_ns, static_cast<double>(known::kWakeWatchedHostWord));
  }
  return polled_ns + static_cast<double>(known::kWakeParked - known::kWakePolled) + parked_wake_ns(wait_ns);
}

/// What the model needs of a site that was polled.
struct Polled {
  std::map<DeviceId, StepCount> pollers;
  double a_word = 0;  ///< as SitePrediction::pollers_a_word
  double mean_wait_ns = 0;
  std::uint64_t waits = 0;
  std::optional<SlowdownRange> slowdown;
  bool congests_host = false;  ///< its pollers hold up everything that goes to host memory
};

/// The part [from, upto) of a stretch that lies within the times of polling.
class PollingTimes {
 public:
  explicit PollingTimes(std::vector<Interval> times) : times_(std::move(times)) {}
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

/// Of work beside the site's pollers; without a slow-down, nothing changes.
double remaining(double exposed, double slowdown) { return 1 - exposed * (1 - 1 / slowdown); }

class Predicting {
 public:
  Predicting(const TraceModel& model, const CriticalPath& path, const Modes& modes, const std::vector<SiteStats>& stats)
      : model_(model), path_(path), modes_(modes), stats_(stats) {}

  Prediction run() {
    gather_polled();
    for (const SiteStats& site : stats_) result_.sites.push_back(look_at(site));
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
      // Where a wait began under polling it counts up to its end, also when it was switched on its way.
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

  bool polling_when_path_unknown(const SiteStats& site) const {
    if (modes_.both()) return true;
    return modes_.at(site.site, model_.begin) == Mode::poll;
  }

  /// The mean number of pollers of one word of one device, while there are any.
  double pollers_a_word(const SiteStats& site, const Polled& polled) const {
    double most = 0;
    for (const auto& [device, pollers] : polled.pollers) {
      const double covered = pollers.covered(model_.begin, model_.end);
      if (covered <= 0) continue;
      double mean = pollers.mean(model_.begin, model_.end) / covered;
      if (site.pollers == Pollers::each_thread) {
        const store::DeviceRow* row = model_.device(device);
        mean /= std::max<double>(1, row != nullptr && row->sm_count > 0 ? row->sm_count : site.sms);
      } else if (!on_one_word(site)) {
        // By tags where they tell words apart, else as declared: a word a waiter.
        mean = std::min(mean, static_cast<double>(site.waiters_per_word.value_or(1)));
      }
      most = std::max(most, mean);
    }
    return most;
  }

  SitePrediction look_at(const SiteStats& site) {
    SitePrediction prediction;
    prediction.site = site.site;
    const auto found = polled_.find(site.site);
    const auto refuse = [&](std::string why) {
      prediction.reason = prediction.break_even_reason = std::move(why);
      return prediction;
    };
    if (site.strategies.empty())
      return refuse("only threads of the CPU wait here; the model is of waits inside kernels");
    if (found == polled_.end() || !polling_when_path_unknown(site)) {
      return refuse("nobody polled here: record the program with --mode poll");
    }
    Polled& polled = found->second;
    if (polled.pollers.begin()->first >= kSimtDeviceBase) {
      return refuse("the waits were on the CPU device, which is no model of a GPU's performance");
    }
    prediction.pollers_a_word = polled.a_word = pollers_a_word(site, polled);
    std::string why;
    polled.slowdown = slowdown_beside(site, polled.a_word, why);
    if (!polled.slowdown) return refuse(why);
    polled.congests_host =
        site.word_memory == WordMemory::pinned_host && on_one_word(site) && polled.a_word >= known::kCongestedFrom;
    if (!path_.missing.empty()) {
      prediction.reason = "no critical path: " + path_.missing;
    } else {
      prediction.reason = fmt::format(
          "{:.3g} pollers {}; {}; the work beside them is taken to be bound by memory streaming, the interval reaches "
          "over everything measured",
          polled.a_word, site.pollers == Pollers::each_thread ? "(warps) an SM" : "a word", polled.slowdown->from);
    }
    break_even(site, polled, prediction);
    return prediction;
  }

  /// Parking costs `late` a wait in latency and saves, of each nanosecond waited, 1 - 1/S of the work beside it: it
  /// pays from late / (1 - 1/S) on.
  static void break_even(const SiteStats& site, const Polled& polled, SitePrediction& prediction) {
    const double s = polled.slowdown->by_work.value;
    const double late = wake_when_parked(site, polled.a_word, static_cast<double>(known::kWakePolled), 0) -
                        static_cast<double>(known::kWakePolled);
    if (late <= 0) {
      prediction.break_even_ns = known::kShortestBreakEven;
      prediction.break_even_reason = "the shortest wait that was measured; parking wakes up no later than polling here";
      return;
    }
    if (s <= 1) {
      prediction.break_even_reason =
          "no length: pollers of this kind cost the work beside them nothing that was measured";
      return;
    }
    const double length = late / (1 - 1 / s);
    prediction.break_even_ns = std::max(known::kShortestBreakEven, static_cast<TimeNs>(length));
    prediction.break_even_reason = fmt::format("parking wakes up {} later and spares work beside it {:.3g} of its time",
                                               format_duration(static_cast<TimeNs>(late)), 1 - 1 / s);
  }

  /// Of the pollers of one site, by device: the path goes on in time.
  using Walks = std::map<DeviceId, StepCount::Cursor>;

  static double slowdown_at(const Polled& polled, End end) {
    const Gain& s = polled.slowdown->by_work;
    return end == kValue ? s.value : end == kLow ? s.low : s.high;
  }

  void follow_path() {
    if (!path_.missing.empty()) return;
    const PollingTimes times(modes_.when(0, Mode::poll));
    saved_.assign(result_.sites.size(), {});
    std::vector<Walks> walks(stats_.size());
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      if (const Polled* polled = modelled(i)) {
        for (const auto& [device, pollers] : polled->pollers) walks[i].emplace(device, pollers);
      }
    }
    for (const PathSegment& segment : path_.segments) {
      const auto length = static_cast<double>(times.within(segment.begin, segment.end));
      if (length <= 0) continue;
      total_ += length;
      if (segment.kind == PathKind::device_work) {
        add_work(segment, length, walks);
      } else if (segment.kind == PathKind::wake) {
        add_wake(segment, length);
      }
    }
  }

  void add_work(const PathSegment& segment, double length, std::vector<Walks>& walks) {
    double left[kEnds] = {1, 1, 1};
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      const auto pollers = walks[i].find(segment.device);
      if (pollers == walks[i].end()) continue;
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
        saved = length - wake_when_parked(stats_[i], polled->a_word, length, polled->mean_wait_ns);
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
    // With compute-bound neighbours the bus is just as congested, so the wake-up changes at either end of the interval.
    for (const End end : {kValue, kLow, kHigh}) {
      saved_[at][end] += saved;
      all_saved_[end] += saved;
    }
  }

  const Polled* modelled(std::size_t i) const {
    const auto found = polled_.find(stats_[i].site);
    return found == polled_.end() || !found->second.slowdown ? nullptr : &found->second;
  }

  Gain gain_of(const std::array<double, kEnds>& saved) const {
    const auto ratio = [&](double part) { return total_ / std::max(total_ - part, total_ * 1e-6); };
    Gain gain{ratio(saved[kValue]), ratio(saved[kLow]), ratio(saved[kHigh])};
    gain.low = std::min({gain.low, gain.value, gain.high});
    gain.high = std::max({gain.low, gain.value, gain.high});
    return gain;
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
        site.gain = gain_of(saved_[i]);
        site.exposed /= total_;
        any = true;
      } else if (polled_.contains(stats_[i].site) && refused.empty()) {
        refused = fmt::format("{}: {}", one_line(stats_[i].name), site.reason);
      }
    }
    if (!refused.empty()) {
      result_.reason = refused;
    } else if (!any) {
      result_.reason = "no site was polled inside kernels";
    } else {
      result_.program = gain_of(all_saved_);
      result_.reason = fmt::format("of {} on the critical path while polling, parking would save {}",
                                   format_duration(result_.path_ns),
                                   format_duration(static_cast<TimeNs>(std::max(0.0, all_saved_[kValue]))));
    }
  }

  const TraceModel& model_;
  const CriticalPath& path_;
  const Modes& modes_;
  const std::vector<SiteStats>& stats_;
  std::map<SiteId, Polled> polled_;
  std::vector<std::array<double, kEnds>> saved_;  // by site
  std::array<double, kEnds> all_saved_{};
  double total_ = 0;
  Prediction result_;
};

}  // namespace

std::optional<SlowdownRange> slowdown_beside(const SiteStats& site, double pollers, std::string& why) {
  if (!site.declared || site.word_memory == WordMemory::unknown) {
    why = "the trace does not say where the word lies";
    return std::nullopt;
  }
  if (site.word_memory == WordMemory::managed) {
    why = "what polling a word in managed memory costs the work beside it was not measured";
    return std::nullopt;
  }
  if (site.pollers == Pollers::each_thread) {
    if (site.word_memory != WordMemory::device) {
      why = "what threads that all poll a word cost was measured for words in device memory only";
      return std::nullopt;
    }
    return range_of(known::kEachThread, pollers, 1, "measured: interference.h200.json, inside_device_one");
  }
  // A few waiters on one word are like as many on words of their own.
  const bool shared = on_one_word(site) || pollers > 1.5;
  switch (site.word_memory) {
    case WordMemory::pinned_host:
      if (!shared) return range_of(known::kHostLines, 1, 1, "measured: interference.h200.json, blocks_host_lines");
      return range_of(known::kHostWord, pollers, pollers > known::kCongestedFrom ? known::kHostWordSpread : 1,
                      "measured: interference.h200.json, blocks_host_one, and threads.h200.json");
    case WordMemory::peer_device:
      if (!shared) return range_of(known::kPeerLines, 1, 1, "measured: interference_peer.h200x2.json, peer_peer_lines");
      return range_of(known::kPeerWord, pollers, 1, "measured: interference_peer.h200x2.json, peer_peer_one");
    default:
      break;
  }
  if (!shared) return range_of(known::kDeviceLines, 1, 1, "measured: interference.h200.json, blocks_device_lines");
  return range_of(known::kDeviceWord, pollers, 1, "measured: interference.h200.json, blocks_device_one and many");
}

Prediction predict(const TraceModel& model, const CriticalPath& path, const Modes& modes,
                   const std::vector<SiteStats>& stats) {
  return Predicting(model, path, modes, stats).run();
}

double prediction_error(const Gain& predicted, double measured) { return (predicted.value - measured) / measured; }

}  // namespace wicprof::analyzer
