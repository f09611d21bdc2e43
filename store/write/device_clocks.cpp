#include "store/write/device_clocks.h"

namespace wicprof::store {

bool DeviceClock::hold(const HeldEvent& event) {
  if (held.size() >= DeviceClocks::kMostHeld) return false;
  held.push_back(event);
  return true;
}

}  // namespace wicprof::store
