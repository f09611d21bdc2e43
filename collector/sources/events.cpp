// CUDA events that are recorded on streams: whom a thread or a stream that waits for an event waits for.
#include "collector/sources/list.h"
#include "collector/translate/translate.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

class Events final : public Source {
 public:
  Events() : Source("events", {CUPTI_ACTIVITY_KIND_CUDA_EVENT}) {}

  Result<> enable(const Cupti& cupti) override {
    layouts_ = layouts_of(cupti.api.version);
    if (Result<> enabled = Source::enable(cupti); !enabled) return enabled;
    // When the device reached the event. Since CUDA 12.8; without it the event still joins recording and waiting.
    if (cupti.api.activity_enable_cuda_event_device_timestamps != nullptr) {
      cupti.api.activity_enable_cuda_event_device_timestamps(1);
    }
    return ok();
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = translate(reinterpret_cast<const CudaEventRecord&>(any), layouts_, now_ns());
    if (event) batch.write(*event);
    return event.has_value();
  }

 private:
  Layouts layouts_;
};

}  // namespace

std::unique_ptr<Source> make_events() { return std::make_unique<Events>(); }

}  // namespace wicprof::collector
