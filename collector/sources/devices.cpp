// The GPUs that the program can see.
#include <cuda.h>
#include <dlfcn.h>

#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

// CUPTI's record does not say; the driver does. It is there already in any program that CUPTI reports devices of.
bool host_native_atomics(std::uint32_t device) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  static const auto get_attribute =
      reinterpret_cast<decltype(&cuDeviceGetAttribute)>(dlsym(driver, "cuDeviceGetAttribute"));
  int value = 0;
  return get_attribute != nullptr &&
         get_attribute(&value, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, static_cast<CUdevice>(device)) ==
             CUDA_SUCCESS &&
         value != 0;
}

class Devices final : public Source {
 public:
  Devices() : Source("devices", {CUPTI_ACTIVITY_KIND_DEVICE}) {}

  bool record(const CUpti_Activity& any, EventSink& sink) override {
    const auto& record = reinterpret_cast<const DeviceRecord&>(any);
    if (record.isCudaVisible == 0) return true;  // hidden by CUDA_VISIBLE_DEVICES: not a participant
    const char* name = record.name;
    const auto event = translate(record, name != nullptr ? sink.text(name) : 0, host_native_atomics(record.id));
    if (event) sink.write(*event);
    return event.has_value();
  }
};

}  // namespace

std::unique_ptr<Source> make_devices() { return std::make_unique<Devices>(); }

}  // namespace wicprof::collector
