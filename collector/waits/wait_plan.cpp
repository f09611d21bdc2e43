#include "collector/waits/wait_plan.h"

#include <algorithm>
#include <cstdio>

namespace wicprof::collector {

namespace {

/// A nap under `hybrid` is at most one in so many parts of what has passed. With 200, waits of 2.5 to 7.5 ms on the
/// host of an H100 ended 55 us later than by spinning, 1 % of their length, and took 16 % of a CPU.
constexpr TimeNs kHybridShare = 300;
/// Under `block` the CPU counts for more than the wait's length. Naps of 50 us added 0.04 ms to waits of 5 ms and took
/// 6 % of a CPU on the host of an H200.
constexpr TimeNs kBlockShare = 64;
constexpr TimeNs kBlockNap = 50'000;
/// Below this, a nap costs more CPU time than it saves. Not calibrated.
constexpr TimeNs kShortestNap = 10'000;

/// A wait is longer than its mean and so many mean absolute deviations in one case of a thousand, if lengths are normal
/// (four of these are 3.2 standard deviations). TCP's timeout uses four, too.
constexpr TimeNs kDeviations = 4;
/// Part of the shortest recent wait that counts as safe to sleep: a kernel that becomes faster does so a little at
/// a time.
constexpr double kSafePart = 0.9;
/// Waking up adds its cost to the wait. It adds less than one percent to waits longer than so many times that cost, so
/// only shorter uncertainties are worth polling through; the paper's rule (poll up to the expected time if that is less
/// than the most that is worth polling, else block) with the measured cost.
constexpr TimeNs kPollWakes = 100;
/// A thread that polls longer at a stretch loses its CPU to others on a shared machine: a quarter of a slice of 4 ms.
/// Not calibrated.
constexpr TimeNs kLongestPoll = 1'000'000;

/// Waits of 200 us of which the thread slept the first half ended 2.8 us later than those it spun through, on the host
/// of an H200: caches and clock are cold after a sleep. That adds less than one percent to waits longer than this.
constexpr TimeNs kWorthSleeping = 300'000;
/// A virtual CPU that has slept for milliseconds is slow at first: with sleeps of 100 us towards the end, steps of
/// eight threads with 2 ms waits on 16 CPUs of an H100's host took 2.82 ms in place of 3.08, with sleeps of 250
/// us 2.99, with 50 us 2.82 at a third more CPU time. For so long before the end; not calibrated.
constexpr TimeNs kPiece = 100 * kMicrosecond, kInPieces = 2 * kMillisecond;
/// A thread that wakes up on a free CPU has it within some 10 us (hosts of H100 and H200). Not calibrated.
constexpr TimeNs kKeptWaiting = 50'000;
/// Of recent waits, with such a delay: from the first share on others use the CPUs, too, and below the second no
/// longer. Not calibrated.
constexpr double kOften = 0.04, kRarely = 0.01, kRecentWaits = 32;
constexpr double kRareSleeps = 0.01;

/// Where others use the CPUs, too. A thread that wakes up earlier by the time for which it may lack a CPU uses up its
/// share by asking, and then lacks a CPU for its own work.
WaitPlan contended_plan(const std::optional<Forecast>& forecast, const SleepCosts& costs) {
  WaitPlan plan;
  plan.shortest_nap = kBlockNap;
  plan.nap_share = kBlockShare;
  if (!forecast) return plan;
  const TimeNs safe = std::max(forecast->left - kDeviations * forecast->deviation,
                               static_cast<TimeNs>(kSafePart * static_cast<double>(forecast->least))) -
                      costs.calm - costs.wake;
  if (safe > costs.wake) plan.sleep = safe;
  plan.contended = true;
  plan.to_driver = forecast->left + kDeviations * forecast->deviation <= 2 * costs.wake;  // too short to sleep
  return plan;
}

WaitPlan hybrid(const std::optional<Forecast>& forecast, const SleepCosts& costs) {
  if (costs.contended) return contended_plan(forecast, costs);
  const TimeNs worth_polling = std::min(kPollWakes * costs.wake, kLongestPoll);
  WaitPlan plan;
  plan.shortest_nap = std::max(costs.wake, kShortestNap);
  plan.nap_share = kHybridShare;
  plan.poll_until = worth_polling;
  if (!forecast) return plan;
  const TimeNs spread = kDeviations * forecast->deviation;
  const TimeNs earliest =
      std::max(forecast->left - spread, static_cast<TimeNs>(kSafePart * static_cast<double>(forecast->least)));
  const TimeNs latest = forecast->left + spread;
  // The thread wakes up late, and not always by the same time. A sleep as short as its own cost saves nothing.
  const bool worth_sleeping = forecast->left > kWorthSleeping;
  if (const TimeNs safe = earliest - costs.late - costs.wake; worth_sleeping && safe > costs.wake) plan.sleep = safe;
  // The driver polls memory and sees the end a microsecond before a thread that asks. A wait that is left to it cannot
  // be cut short, so only a wait that will end soon is left to it.
  plan.to_driver = latest - plan.sleep <= (worth_sleeping ? worth_polling : kLongestPoll);
  plan.poll_until = plan.sleep + 3 * costs.wake;
  plan.in_pieces = true;
  return plan;
}

std::string time_text(TimeNs time) {
  char text[32];
  const bool long_one = time >= kMillisecond;
  std::snprintf(text, sizeof text, long_one ? "%.3g ms" : "%.3g us",
                static_cast<double>(time) / static_cast<double>(long_one ? kMillisecond : 1000));
  return text;
}

}  // namespace

void SleepLateness::sleep_ended(TimeNs late, TimeNs measured) {
  if (late_ == 0) late_ = measured;
  const double step = std::max(static_cast<double>(late_) / 8, 1000.0);
  late_ += static_cast<TimeNs>(step * (late > late_ ? 1 - kRareSleeps : -kRareSleeps));
  late_ = std::clamp(late_, kShortestNap, kLongestPoll);
}

void Contention::wait_ended(TimeNs run_delay) {
  share_ += ((run_delay > kKeptWaiting ? 1 : 0) - share_) / kRecentWaits;
  contended_ = share_ >= (contended_ ? kRarely : kOften);
}

TimeNs WaitPlan::first_sleep(TimeNs passed) const {
  const TimeNs left = sleep - passed;
  if (!in_pieces) return left;
  return left > kInPieces ? left - kInPieces : std::min(left, kPiece);
}

TimeNs WaitPlan::nap(TimeNs passed) const {
  return shortest_nap == 0 ? 0 : std::min(std::max(passed / nap_share, shortest_nap), kLongestNap);
}

WaitPlan plan_of(StrategyId strategy, const std::optional<Forecast>& forecast, const SleepCosts& costs) {
  if (strategy == StrategyId::spin) return {};
  if (strategy != StrategyId::block) return hybrid(forecast, costs);
  WaitPlan plan;
  plan.shortest_nap = kBlockNap;
  plan.nap_share = kBlockShare;
  return plan;
}

HybridWay way_of(const std::optional<Forecast>& forecast, const WaitPlan& plan) {
  if (plan.contended) return HybridWay::shares_cpu;
  if (!forecast) return HybridWay::learning;
  if (!plan.to_driver) return HybridWay::naps;
  return plan.sleep == 0 ? HybridWay::polls : HybridWay::sleeps_then_polls;
}

std::string reason_of(HybridWay way, const Forecast& forecast, const SleepCosts& costs) {
  const std::string length = "waits last " + time_text(forecast.left) + ", on average " +
                             time_text(forecast.deviation) + " more or less, and waking up takes " +
                             time_text(costs.wake);
  switch (way) {
    case HybridWay::learning:
      return "too few waits yet";
    case HybridWay::polls:
      return length + ": too short to sleep, so the call itself waits";
    case HybridWay::sleeps_then_polls:
      return length + ": sleeps for the part that is safe, then the call itself waits";
    case HybridWay::naps:
      return length + ": sleeps for the part that is safe, then sleeps and asks in turn, since the end is uncertain";
    case HybridWay::shares_cpu:
      return length +
             ": sleeps and asks in turn, since others use the CPUs, too, and polling would use up its share; asks the "
             "system for short time slices where its own computing fits into them";
  }
  return {};
}

}  // namespace wicprof::collector
