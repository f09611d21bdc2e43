#include "analyzer/path/idle_times.h"

#include <algorithm>

namespace wicprof::analyzer {

IdleTimes::IdleTimes(const DeviceWork& work) {
  for (const auto& [stream, items] : work.by_stream) {
    for (const WorkItem& item : items) busy_[item.device].push_back({item.start, item.end});
  }
  for (auto& [device, list] : busy_) {
    std::sort(list.begin(), list.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
    std::vector<Interval> merged;
    for (const Interval& one : list) {
      if (!merged.empty() && one.begin <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, one.end);
      } else {
        merged.push_back(one);
      }
    }
    list = std::move(merged);
  }
}

TimeNs IdleTimes::within(DeviceId device, Interval part) const {
  TimeNs idle = std::max<TimeNs>(0, part.end - part.begin);
  const auto found = busy_.find(device);
  if (found == busy_.end()) return idle;
  auto at = std::upper_bound(found->second.begin(), found->second.end(), part.begin,
                             [](TimeNs time, Interval one) { return time < one.end; });
  for (; at != found->second.end() && at->begin < part.end; ++at) {
    idle -= std::min(at->end, part.end) - std::max(at->begin, part.begin);
  }
  return std::max<TimeNs>(0, idle);
}

}  // namespace wicprof::analyzer
