#include "store/write/device_clocks.h"

namespace wicprof::store {

bool DeviceClock::hold(const HeldEvent& event) {
  if (held.size() >= DeviceClocks::kMaxHeld) return false;
  held.push_back(event);
  return true;
}

}  // namespace wicprof::store
