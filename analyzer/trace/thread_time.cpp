#include "analyzer/trace/thread_time.h"

#include <algorithm>

namespace wicprof::analyzer {

ThreadTime::ThreadTime(const TraceModel& model) {
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    if (sample.end > sample.begin) samples_[{sample.process, sample.thread}].push_back(&sample);
  }
}

std::optional<TimeNs> ThreadTime::cpu_between(store::ProcessId process, std::uint32_t thread, TimeNs begin,
                                              TimeNs end) const {
  const auto found = samples_.find({process, thread});
  if (found == samples_.end() || end <= begin) return {};
  // A thread's samples do not overlap, so their ends are in order too.
  const auto& samples = found->second;
  auto at = std::partition_point(samples.begin(), samples.end(), [&](const auto* s) { return s->end <= begin; });
  double cpu = 0;
  TimeNs covered = 0;
  for (; at != samples.end() && (*at)->begin < end; ++at) {
    const store::ThreadSampleRow& sample = **at;
    const TimeNs overlap = std::min(end, sample.end) - std::max(begin, sample.begin);
    if (overlap <= 0) continue;
    covered += overlap;
    cpu +=
        static_cast<double>(sample.cpu) * static_cast<double>(overlap) / static_cast<double>(sample.end - sample.begin);
  }
  if (covered * 2 < end - begin) return {};  // samples cover less than half
  return static_cast<TimeNs>(std::min(cpu, static_cast<double>(end - begin)));
}

}  // namespace wicprof::analyzer
