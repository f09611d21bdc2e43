// When each device has nothing to do, by time.
#pragma once

#include <map>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/device_work.h"

namespace wicprof::analyzer {

class IdleTimes {
 public:
  explicit IdleTimes(const DeviceWork& work);

  /// The device's time within the interval without a kernel or copy, in ns; all of it for a device without any. Takes a
  /// binary search and a step per piece of work within.
  TimeNs within(DeviceId device, Interval part) const;

 private:
  std::map<DeviceId, std::vector<Interval>> busy_;  ///< apart, in order
};

}  // namespace wicprof::analyzer
