#pragma once

#include "protocol/events/clock.h"
#include "store/format/column.h"

namespace wicprof::store {

/// The readings that device times were converted by: for people who query the file.
struct ClockTable {
  using Event = ClockEvent;
  static constexpr const char* kName = "clock";
  static constexpr RowTime kTime{"host_ns", "host_ns"};
  // The newest reading of each device: times of the segments are converted already.
  static constexpr const char* kLasting = "id IN (SELECT max(id) FROM earlier.clock GROUP BY device_id)";
  static constexpr Columns kColumns{
      column::device("device_id", &Event::device),
      column::known("device_ns", &Event::device_ns),
      column::known("host_ns", &Event::host_ns),
      column::known("error_ns", &Event::error_ns),
  };
};

}  // namespace wicprof::store
