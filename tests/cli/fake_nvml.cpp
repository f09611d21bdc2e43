// A libnvidia-ml.so.1 of an older driver with two GPUs. GPU 1 tells neither its energy nor its temperature.
#include <cstdio>

namespace {

using Device = void*;
constexpr int kSuccess = 0, kNotSupported = 3;
char devices[2];
bool is_first(Device device) { return device == &devices[0]; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  *device = &devices[index];
  return kSuccess;
}
int nvmlDeviceGetName(Device, char* name, unsigned bytes) {
  std::snprintf(name, bytes, "made");
  return kSuccess;
}
int nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  *millijoules = 7;
  return is_first(device) ? kSuccess : kNotSupported;
}
const char* nvmlErrorString(int) { return "Not Supported"; }
int nvmlDeviceGetUUID(Device device, char* uuid, unsigned bytes) {
  std::snprintf(uuid, bytes, "GPU-00000000-0000-0000-0000-00000000000%d", is_first(device) ? 1 : 2);
  return kSuccess;
}
int nvmlDeviceGetClockInfo(Device, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1410 : which == 2 ? 3201 : 1;
  return kSuccess;
}
int nvmlDeviceGetMaxClockInfo(Device, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1980 : 1;
  return kSuccess;
}
int nvmlDeviceGetTemperature(Device device, int sensor, unsigned* degrees) {
  *degrees = 88;
  return is_first(device) && sensor == 0 ? kSuccess : kNotSupported;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* reasons) {
  *reasons = 0x24;
  return kSuccess;
}
}
