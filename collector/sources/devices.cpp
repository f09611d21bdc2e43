// The GPUs that the program can see.
#include "collector/driver.h"
#include "collector/sources/list.h"
#include "collector/translate/translate.h"
#include "protocol/uuid.h"

namespace wicprof::collector {

namespace {

DeviceAttributes attributes(std::uint32_t device) {
  return {device_attribute(static_cast<int>(device), CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) != 0,
          static_cast<std::uint32_t>(device_attribute(static_cast<int>(device), CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK))};
}

class Devices final : public Source {
 public:
  Devices() : Source("devices", {CUPTI_ACTIVITY_KIND_DEVICE}) {}

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto& record = reinterpret_cast<const DeviceRecord&>(any);
    if (record.isCudaVisible == 0) return true;  // hidden by CUDA_VISIBLE_DEVICES: not a participant
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
