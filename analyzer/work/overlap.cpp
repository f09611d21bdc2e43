#include "analyzer/work/overlap.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analyzer/measure/step_count.h"
#include "analyzer/measure/tasks.h"
#include "analyzer/words/missing.h"

namespace wicprof::analyzer {
namespace {

/// The waits of one SM.
struct Sm {
  DeviceId device = 0;
  std::size_t first = 0, count = 0;  // its range in order_
};

/// Per mode, in ns: the total length of the waits, and its overlap with computation (lower and upper bound).
struct Sums {
  double waiting[2] = {0, 0}, seen[2] = {0, 0}, at_most[2] = {0, 0};

  void operator+=(const Sums& other) {
    for (const int m : {0, 1}) {
      waiting[m] += other.waiting[m];
      seen[m] += other.seen[m];
      at_most[m] += other.at_most[m];
    }
  }
};

int index_of(Mode mode) { return mode == Mode::poll ? 0 : 1; }

class OverlapScan {
 public:
  OverlapScan(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels, const Modes& modes)
      : model_(model), kernels_(kernels), modes_(modes) {
    order_by_sm(waiters);
  }

  const std::uint64_t (&waits() const)[2] { return waits_; }

  /// The sums over all SMs. Lengths are whole nanoseconds, so the result does not depend on the order of summation.
  Sums sums() const {
    std::map<DeviceId, StepCount> independent;
    for (const Sm& sm : sms_) {
      if (!independent.contains(sm.device)) {
        independent.emplace(sm.device, StepCount(kernels_.with_independent_blocks(model_, sm.device)));
      }
    }
    std::array<Sums, 2> parts;
    Tasks tasks;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      tasks.add([&, p] {
        for (std::size_t s = p; s < sms_.size(); s += parts.size())
          parts[p] += of(sms_[s], independent.at(sms_[s].device));
      });
    }
    tasks.run();
    parts[0] += parts[1];
    return parts[0];
  }

 private:
  void order_by_sm(const Waiters& waiters) {
    FlatIndex numbers;
    std::vector<std::uint32_t> sm_of(model_.waits.size());
    const bool both = modes_.both();
    const Mode only = modes_.at(0, model_.begin);
    parked_.resize(model_.waits.size());
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      const store::WaitRow& wait = model_.waits[i];
      sm_of[i] = numbers.number((std::uint64_t{static_cast<std::uint32_t>(wait.device)} << 32) | wait.sm);
      if (sm_of[i] == sms_.size()) sms_.emplace_back().device = wait.device;
      ++sms_[sm_of[i]].count;
      const Mode mode = both ? modes_.at(wait.site, wait.arrived) : only;
      parked_[i] = mode != Mode::poll;
      ++waits_[index_of(mode)];
    }
    std::vector<std::size_t> next;
    std::size_t total = 0;
    for (Sm& sm : sms_) {
      sm.first = total;
      next.push_back(total);
      total += sm.count;
    }
    order_.resize(total);
    since_.resize(total);
    std::vector<std::uint32_t> last(waiters.list().size(), FlatIndex::kNone);
    for (std::size_t i = 0; i < sm_of.size(); ++i) {
      const std::uint32_t before = std::exchange(last[waiters.of_wait(i)], static_cast<std::uint32_t>(i));
      const std::size_t place = next[sm_of[i]]++;
      order_[place] = static_cast<std::uint32_t>(i);
      since_[place] = computes_since(i, before);
    }
  }

  /// A block computes from its previous wait in the same kernel, or from its kernel's start.
  store::OptionalTime computes_since(std::size_t wait, std::uint32_t before) const {
    const std::uint32_t kernel = kernels_.kernel_of(wait);
    if (before != FlatIndex::kNone && kernels_.kernel_of(before) == kernel) return model_.waits[before].resumed;
    if (kernel != FlatIndex::kNone) return model_.kernels[kernel].start;
    return {};
  }

  Sums of(const Sm& sm, const StepCount& independent) const {
    std::vector<Interval> waiting[2], computing;
    Sums sums;
    const std::size_t end = sm.first + sm.count;
    for (std::size_t k = sm.first; k < end; ++k) {
      const store::WaitRow& wait = model_.waits[order_[k]];
      const int m = parked_[order_[k]] ? 1 : 0;
      waiting[m].push_back({wait.arrived, wait.resumed});
      sums.waiting[m] += static_cast<double>(std::max<TimeNs>(0, wait.resumed - wait.arrived));
      if (since_[k]) computing.push_back({*since_[k], wait.arrived});
    }
    const StepCount beside(computing);
    for (const int m : {0, 1}) {
      const StepCount::CoveredCount where = StepCount(waiting[m]).count_ns_while(beside, independent);
      sums.seen[m] = where.first;
      sums.at_most[m] = where.either;
    }
    return sums;
  }

  const TraceModel& model_;
  const WaitKernels& kernels_;
  const Modes& modes_;
  std::vector<Sm> sms_;
  std::vector<std::uint32_t> order_;        // waits by SM, each SM's in order of time
  std::vector<store::OptionalTime> since_;  // in that order: start of the computation before the wait
  std::vector<bool> parked_;                // by wait
  std::uint64_t waits_[2] = {0, 0};
};

}  // namespace

Overlaps overlap(const TraceModel& model, const Waiters& waiters, const WaitKernels& kernels, const Modes& modes) {
  Overlaps result;
  if (model.waits.empty()) {
    result.missing = missing::kNoKernelWaits;
    return result;
  }
  const OverlapScan scan(model, waiters, kernels, modes);
  const Sums sums = scan.sums();
  for (const Mode mode : {Mode::poll, Mode::park}) {
    const int m = index_of(mode);
    if (scan.waits()[m] == 0 || sums.waiting[m] <= 0) continue;
    Overlap part;
    part.mode = mode;
    part.waits = scan.waits()[m];
    part.waiting_ns = static_cast<TimeNs>(sums.waiting[m]);
    part.seen = std::min(1.0, sums.seen[m] / sums.waiting[m]);
    if (!model.kernels.empty()) part.at_most = std::clamp(sums.at_most[m] / sums.waiting[m], part.seen, 1.0);
    result.modes.push_back(part);
  }
  if (result.modes.empty()) result.missing = missing::kNoWaitingTime;
  return result;
}

}  // namespace wicprof::analyzer
