// One device with everything that the backend keeps in its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "wic/device.h"
#include "wic/device_state.h"

namespace wic {

class DeviceMemory {
 public:
  /// `records_per_sm`: length of each SM's record ring, a power of two; 0 = no rings. Error: no memory.
  static Result<DeviceMemory> make(std::unique_ptr<Device> device, std::uint32_t records_per_sm);

  Device& device() const { return *device_; }
  const DeviceProperties& properties() const { return device_->properties(); }
  StrategyWord* strategies() const { return strategies_.data(); }
  ControlPage* control() const { return control_.data(); }
  DeviceRecord* records() const { return records_.data(); }  ///< nullptr = no rings
  std::uint32_t records_per_sm() const { return records_per_sm_; }

  /// For kernels of this device. The caller adds the records and the hot sites.
  DeviceView view() const;
  /// How many records each SM's ring has handed out since its start. Kernels may run meanwhile.
  Result<std::vector<std::uint32_t>> claimed_records() const;

 private:
  DeviceMemory() = default;

  std::unique_ptr<Device> device_;  // first, so that it outlives its memory
  Array<StrategyWord> strategies_;
  Array<SiteMemory> sites_;
  Array<WatchSlot> watch_;
  Array<StewardLine> steward_;
  Array<ControlPage> control_;
  Array<RingHead> heads_;
  Array<DeviceRecord> records_;
  std::uint32_t records_per_sm_ = 0;
};

}  // namespace wic
