// The GPUs that are visible to the program: first from the driver, because events must not refer to an undeclared
// device, then from CUPTI's device records, which may arrive in a later buffer than the kernels.
#include "collector/program/driver.h"
#include "collector/sources/list.h"
#include "collector/translate/translate.h"
#include "protocol/uuid.h"

namespace wicprof::collector {

namespace {

DeviceAttributes attributes(std::uint32_t device) {
  return {device_attribute(static_cast<int>(device), CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) != 0,
          static_cast<std::uint32_t>(
              device_attribute(static_cast<int>(device), CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK))};
}

DeviceEvent from_driver(int device, EventBatch& batch) {
  const auto attribute = [device](CUdevice_attribute which) {
    return static_cast<std::uint32_t>(device_attribute(device, which));
  };
  const DeviceAttributes more = attributes(static_cast<std::uint32_t>(device));
  DeviceEvent event = make_event<DeviceEvent>();
  event.device = cuda_device(device);
  event.name = batch.text(device_name(device));
  event.memory_bytes = device_memory(device);
  event.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  event.compute_major = static_cast<std::uint16_t>(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  event.compute_minor = static_cast<std::uint16_t>(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  event.kind = DeviceKind::cuda;
  event.host_native_atomics = more.host_native_atomics ? 1 : 0;
  event.uuid = batch.text(device_uuid(device));
  event.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  event.max_blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  event.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  event.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  event.reserved_shared_bytes_per_block = more.reserved_shared_bytes_per_block;
  event.clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  return event;
}

class Devices final : public Source {
 public:
  Devices() : Source("devices", {CUPTI_ACTIVITY_KIND_DEVICE}) {}

  void declare(EventBatch& batch) override {
    const int count = device_count();
    for (int device = 0; device < count; ++device) batch.write(from_driver(device, batch));
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto& record = reinterpret_cast<const DeviceRecord&>(any);
    if (record.isCudaVisible == 0) return true;  // hidden by CUDA_VISIBLE_DEVICES
    DeviceTexts texts;
    if (record.name != nullptr) texts.name = batch.text(record.name);
    texts.uuid = batch.text(uuid_text(record.isMigEnabled != 0 ? &record.migUuid : &record.uuid));
    const auto event = translate(record, texts, attributes(record.id));
    if (event) batch.write(*event);
    return event.has_value();
  }
};

}  // namespace

std::unique_ptr<Source> make_devices() { return std::make_unique<Devices>(); }

}  // namespace wicprof::collector
