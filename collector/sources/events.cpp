// CUDA events recorded on streams: they tell which work a thread or stream waits for when it waits for an event.
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
    // The time at which the device reached the event, since CUDA 12.8. Without it, an event still links the recording
    // stream to its waiters.
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
