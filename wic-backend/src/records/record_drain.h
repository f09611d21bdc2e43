// Empties the record rings of one device: reads complete records in order, ring by ring, and counts records that were
// overwritten before they were read. Reads only host memory, so it works while kernels run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "protocol/time.h"
#include "wic/device_state.h"

namespace wic {

class RecordDrain {
 public:
  /// `records`: sm_count rings of ring_capacity records, zeroed before the first kernel.
  RecordDrain(DeviceRecord* records, std::uint32_t sm_count, std::uint32_t ring_capacity);

  /// Calls deliver(record) for every complete record; returns their number. One thread.
  std::size_t drain(const std::function<void(const DeviceRecord&)>& deliver);

  /// Records that were overwritten or never finished, so far.
  std::uint64_t lost() const { return lost_; }

  /// Call after all kernels have ended. `claimed`: per SM, the sequence numbers handed out; missing records count as
  /// lost.
  void close(const std::vector<std::uint32_t>& claimed);

 private:
  enum class Slot { whole, not_yet, overwritten };
  Slot read(std::uint32_t sm, std::uint32_t sequence, DeviceRecord& record, std::uint32_t& newest) const;
  std::size_t drain_sm(std::uint32_t sm, const std::function<void(const DeviceRecord&)>& deliver);

  DeviceRecord* records_;
  std::uint32_t capacity_;
  std::vector<std::uint32_t> next_;  // per SM: the sequence number to read next
  std::uint64_t lost_ = 0;
};

}  // namespace wic
