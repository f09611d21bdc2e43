#include "analyzer/overlap.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/step_count.h"

namespace wicprof::analyzer {
namespace {

constexpr std::uint32_t kNone = FlatIndex::kNone;

struct Sm {
  DeviceId device = 0;
  std::vector<Interval> waiting[2];  // by mode
  std::vector<Interval> computing;
};

}  // namespace

Overlaps overlap(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels, const Modes& modes) {
  Overlaps result;
  if (model.waits.empty()) {
    result.missing = "the trace holds no waits inside kernels";
    return result;
  }
  std::vector<Sm> sms;
  FlatIndex numbers;
  std::vector<std::uint32_t> last(waiters.list().size(), kNone);
  const bool both = modes.both();
  const Mode only = modes.at(0, model.begin);
  std::uint64_t waits[2] = {0, 0};
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    const std::uint32_t number =
        numbers.number((std::uint64_t{static_cast<std::uint32_t>(wait.device)} << 32) | wait.sm);
    if (number == sms.size()) sms.emplace_back().device = wait.device;
    Sm& sm = sms[number];
    const Mode mode = both ? modes.at(wait.site, wait.arrived) : only;
    sm.waiting[mode == Mode::poll ? 0 : 1].push_back({wait.arrived, wait.resumed});
    ++waits[mode == Mode::poll ? 0 : 1];
    const std::uint32_t before = std::exchange(last[waiters.of_wait(i)], static_cast<std::uint32_t>(i));
    const std::uint32_t kernel = kernels.kernel_of(i);
    if (before != kNone && kernels.kernel_of(before) == kernel) {
      sm.computing.push_back({model.waits[before].resumed, wait.arrived});
    } else if (kernel != kNone) {
      sm.computing.push_back({model.kernels[kernel].start, wait.arrived});
    }
  }

  std::map<DeviceId, StepCount> independent;
  for (const Sm& sm : sms) {
    if (!independent.contains(sm.device)) {
      independent.emplace(sm.device, StepCount(kernels.with_independent_blocks(model, sm.device)));
    }
  }
  double waiting[2] = {0, 0}, seen[2] = {0, 0}, at_most[2] = {0, 0};
  for (const Sm& sm : sms) {
    const StepCount computing(sm.computing);
    for (const int m : {0, 1}) {
      for (const Interval& wait : sm.waiting[m]) waiting[m] += static_cast<double>(std::max<TimeNs>(0, wait.end - wait.begin));
      const StepCount count(sm.waiting[m]);
      seen[m] += count.count_ns_where_either(computing, {});
      at_most[m] += count.count_ns_where_either(computing, independent.at(sm.device));
    }
  }
  for (const Mode mode : {Mode::poll, Mode::park}) {
    const int m = mode == Mode::poll ? 0 : 1;
    if (waits[m] == 0 || waiting[m] <= 0) continue;
    Overlap part;
    part.mode = mode;
    part.waits = waits[m];
    part.waiting_ns = static_cast<TimeNs>(waiting[m]);
    part.seen = std::min(1.0, seen[m] / waiting[m]);
    if (!model.kernels.empty()) part.at_most = std::clamp(at_most[m] / waiting[m], part.seen, 1.0);
    result.modes.push_back(part);
  }
  if (result.modes.empty()) result.missing = "no wait took any time";
  return result;
}

}  // namespace wicprof::analyzer
