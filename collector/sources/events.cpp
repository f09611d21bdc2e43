// CUDA events recorded on streams: they tell which work a thread or stream waits for when it waits for an event.
#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

class Events final : public Source {
 public:
  Events() : Source("events", {CUPTI_ACTIVITY_KIND_CUDA_EVENT}) {}

  // Without the times of the device, which CUPTI could add since CUDA 12.8: while an event that asks the device for the
  // time lies behind a kernel that runs, all launches of the program take longer.
  Result<> enable(const Cupti& cupti) override {
    layouts_ = layouts_of(cupti.api.version);
    return Source::enable(cupti);
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = translate(reinterpret_cast<const CudaEventRecord&>(any), layouts_);
    if (event) batch.write(*event);
    return event.has_value();
  }

 private:
  Layouts layouts_;
};

}  // namespace

std::unique_ptr<Source> make_events() { return std::make_unique<Events>(); }

}  // namespace wicprof::collector
