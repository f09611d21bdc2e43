// The clock of each device, and the events that wait for its first reading.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <variant>
#include <vector>

#include "protocol/events/header.h"
#include "store/format/event_tables.h"
#include "store/write/clock_converter.h"

namespace wicprof::store {

template <class Tables>
struct EventOfAny;
template <class... Tables>
struct EventOfAny<std::tuple<Tables...>> {
  using type = std::variant<typename Tables::Event...>;
};

struct HeldEvent {
  std::size_t ring;
  EventOfAny<DeviceTimeTables>::type event;
};

struct DeviceClock {
  ClockConverter converter;
  std::vector<HeldEvent> held;  ///< oldest first; only before the first reading
  TimeNs worst_error_ns = 0;    ///< of all times converted
  bool error_changed = false;   ///< since it was last written

  /// False: too many events are held already, and this one is lost.
  bool hold(const HeldEvent& event);
};

class DeviceClocks {
 public:
  static constexpr std::size_t kMaxHeld = 65'536;  ///< events per device; 4 MiB
  static constexpr std::size_t kMaxDevices = 256;  ///< bounds the memory for a program that overwrites its records

  /// Whether the device is known, or there is space for one more.
  bool takes(DeviceId device) const { return clocks_.size() < kMaxDevices || clocks_.contains(device); }

  DeviceClock& of(DeviceId device) {
    // Events come in runs of one device; the map never moves its values.
    if (last_ == nullptr || device != last_device_) {
      last_ = &clocks_[device];
      last_device_ = device;
    }
    return *last_;
  }

  std::unordered_map<DeviceId, DeviceClock>& all() { return clocks_; }

 private:
  std::unordered_map<DeviceId, DeviceClock> clocks_;
  DeviceClock* last_ = nullptr;
  DeviceId last_device_ = 0;
};

}  // namespace wicprof::store
