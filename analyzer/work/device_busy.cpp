#include "analyzer/work/device_busy.h"

#include <algorithm>
#include <map>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

double DeviceBusy::idle() const {
  if (of_ns <= 0) return 0;
  return std::clamp(1 - static_cast<double>(busy_ns) / static_cast<double>(of_ns), 0.0, 1.0);
}

std::vector<DeviceBusy> device_busy(const TraceModel& model) {
  std::map<DeviceId, std::vector<Interval>> work;
  for (const store::KernelRow& kernel : model.kernels) work[kernel.device].push_back({kernel.start, kernel.end});
  for (const store::CopyRow& copy : model.copies) work[copy.device].push_back({copy.start, copy.end});
  std::vector<DeviceBusy> all;
  for (auto& [device, intervals] : work) all.push_back({device, covered(std::move(intervals)), model.span()});
  return all;
}

}  // namespace wicprof::analyzer
