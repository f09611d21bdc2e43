#include "import/trace/cpu_times.h"

#include <algorithm>

namespace wicprof::imports {

void CpuTimes::saw(Thread& thread, TimeNs at) {
  thread.first = std::min(thread.first.value_or(at), at);
  thread.last = std::max(thread.last.value_or(at), at);
}

void CpuTimes::on_cpu(Ring ring, std::uint32_t number, TimeNs at) {
  Thread& thread = threads_[{ring, number}];
  saw(thread, at);
  thread.since = at;
}

void CpuTimes::off_cpu(Ring ring, std::uint32_t number, TimeNs at) {
  Thread& thread = threads_[{ring, number}];
  saw(thread, at);
  if (thread.since && *thread.since <= at) thread.runs.push_back({*thread.since, at, 0});
  thread.since.reset();
}

void CpuTimes::settle() {
  for (auto& [owner, thread] : threads_) {
    std::sort(thread.runs.begin(), thread.runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
    TimeNs before = 0, covered = 0;
    for (Run& run : thread.runs) {
      run.begin = std::max(run.begin, covered);  // a thread runs on one CPU at a time
      run.end = std::max(run.end, run.begin);
      covered = run.end;
      run.before = before;
      before += run.end - run.begin;
    }
  }
}

/// CPU time up to `at`.
TimeNs CpuTimes::until(const Thread& thread, TimeNs at) {
  auto after = std::upper_bound(thread.runs.begin(), thread.runs.end(), at,
                                [](TimeNs time, const Run& run) { return time < run.begin; });
  if (after == thread.runs.begin()) return 0;
  const Run& run = *--after;
  return run.before + std::min(at, run.end) - run.begin;
}

std::optional<TimeNs> CpuTimes::within(Ring ring, std::uint32_t number, TimeNs begin, TimeNs end) const {
  const auto found = threads_.find({ring, number});
  if (found == threads_.end() || begin < *found->second.first || end > *found->second.last) return std::nullopt;
  return until(found->second, end) - until(found->second, begin);
}

void CpuTimes::each_slice(const std::function<void(const Slice&)>& take) const {
  constexpr TimeNs kSlice = 100 * kMillisecond;
  for (const auto& [owner, thread] : threads_) {
    Slice slice{owner.first, owner.second, 0, 0, 0, 0};
    for (const Run& run : thread.runs) {
      for (TimeNs begin = run.begin; begin < run.end;) {
        const TimeNs number = begin / kSlice, end = std::min(run.end, (number + 1) * kSlice);
        if (slice.cpu != 0 && slice.begin != number * kSlice) {
          take(slice);
          slice.cpu = 0;
          slice.switches = 0;
        }
        slice.begin = number * kSlice;
        slice.end = slice.begin + kSlice;
        slice.cpu += end - begin;
        slice.switches += end == run.end ? 1 : 0;
        begin = end;
      }
    }
    if (slice.cpu != 0) take(slice);
  }
}

}  // namespace wicprof::imports
