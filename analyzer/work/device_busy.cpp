#include "analyzer/work/device_busy.h"

#include <algorithm>
#include <map>

namespace wicprof::analyzer {

double DeviceBusy::idle() const {
  if (of_ns <= 0) return 0;
  return std::clamp(1 - static_cast<double>(busy_ns) / static_cast<double>(of_ns), 0.0, 1.0);
}

std::vector<DeviceBusy> device_busy(const TraceModel& model, Interval within) {
  struct Busy {
    TimeNs until, sum = 0;
  };
  std::map<DeviceId, Busy> devices;
  const auto add = [&](const auto& work) {
    Busy& busy = devices.try_emplace(work.device, Busy{within.begin}).first->second;
    const TimeNs end = std::min(work.end, within.end);
    busy.sum += std::max<TimeNs>(0, end - std::max(work.start, busy.until));
    busy.until = std::max(busy.until, end);
  };
  // Both lists are in order of their begins.
  auto copy = model.copies.begin();
  for (const store::KernelRow& kernel : model.kernels) {
    for (; copy != model.copies.end() && copy->start < kernel.start; ++copy) add(*copy);
    add(kernel);
  }
  for (; copy != model.copies.end(); ++copy) add(*copy);
  std::vector<DeviceBusy> all;
  for (const auto& [device, busy] : devices) all.push_back({device, busy.sum, within.end - within.begin});
  return all;
}

}  // namespace wicprof::analyzer
