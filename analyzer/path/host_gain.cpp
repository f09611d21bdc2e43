#include "analyzer/path/host_gain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/waits/host_waits.h"

namespace wicprof::analyzer {
namespace {

/// hybrid waits at most this much longer than a thread that spins (docs/results: host_waits).
constexpr double kHybridCost = 0.01;
/// A program that would have nothing left to do is not understood.
constexpr double kMostLate = 0.98;

/// Whether the thread waited in a call of CUDA in the program's own way.
bool is_own_way(const store::HostWaitRow& wait) { return wait.in_call() && wait.strategy == StrategyId::poll; }

/// How long a quota stopped the program while it was recorded, per thread that waits: the kernel adds up its CPUs.
double throttled_per_thread(const TraceModel& model) {
  double throttled = 0;
  for (const store::StatRow& row : model.stats) {
    if (row.name == "throttled_ns") throttled += static_cast<double>(row.value);
  }
  std::set<std::pair<store::ProcessId, std::uint32_t>> threads;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.in_call()) threads.insert({wait.process, wait.thread});
  }
  return throttled / static_cast<double>(std::max<std::size_t>(1, threads.size()));
}

}  // namespace

TimeNs spun_in_calls(const TraceModel& model) {
  TimeNs cpu = 0, wall = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.cpu || wait.site == 0 || !is_own_way(wait)) continue;
    cpu += *wait.cpu;
    // A thread that had no CPU would have spun.
    wall += std::max<TimeNs>(0, wait.end - wait.begin - wait.run_delay.value_or(0));
  }
  return waiting_way(cpu, wall) == WaitingWay::spinning ? cpu : 0;
}

std::optional<Gain> host_park_gain(const TraceModel& model, const Lateness& lateness, TimeNs ground) {
  if (lateness.steps == 0 || ground <= 0 || spun_in_calls(model) == 0) return std::nullopt;
  const bool parks = std::any_of(model.host_waits.begin(), model.host_waits.end(),
                                 [](const auto& wait) { return wait.in_call() && !is_own_way(wait); });
  if (parks) return std::nullopt;  // measured, in place of predicted
  double idle[2] = {0, 0}, error[2] = {0, 0};
  constexpr LateCause kCauses[2] = {LateCause::throttled, LateCause::oversubscribed};
  for (int i = 0; i < 2; ++i) {
    const LateSum* const sum = lateness.sum(kCauses[i]);
    if (sum == nullptr || sum->late_ns <= 0) continue;
    idle[i] = static_cast<double>(sum->idle_ns);
    error[i] = idle[i] * static_cast<double>(sum->error_ns) / static_cast<double>(sum->late_ns);
  }
  const auto whole = static_cast<double>(ground);
  const auto gain = [&](double gone) { return whole / (whole - std::min(std::max(0.0, gone), kMostLate * whole)); };
  // Stops that are too short to be named as delays delay the program, too: at most all of them.
  const double quota = std::max(idle[0] + error[0], throttled_per_thread(model));
  return Gain{gain(idle[0] + idle[1] / 2), (1 - kHybridCost) * gain(idle[0] - error[0]),
              gain(quota + idle[1] + error[1])};
}

}  // namespace wicprof::analyzer
