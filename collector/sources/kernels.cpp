// Kernels. Uses KIND_CONCURRENT_KERNEL: with KIND_KERNEL, CUPTI serializes kernels, and a kernel that waits for another
// one would never finish.
#include <string_view>

#include "collector/sources/list.h"
#include "collector/translate/text_cache.h"
#include "collector/translate/translate.h"
#include "collector/waits/open_kernels.h"
#include "protocol/symbol_name.h"

namespace wicprof::collector {

namespace {

class Kernels final : public Source {
 public:
  explicit Kernels(OpenKernels& open) : Source("kernels", {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}), open_(open) {}

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto& record = reinterpret_cast<const KernelRecord&>(any);
    open_.ended(record.correlationId, static_cast<TimeNs>(record.end));
    if (record.name != nullptr && std::string_view(record.name).starts_with(kOwnKernels)) return true;
    const auto event = translate(record, names_.find(record.name, batch, demangled));
    if (event) batch.write(*event);
    return event.has_value();
  }

 private:
  // Of collector/rewrite/device_clock.cpp.
  static constexpr std::string_view kOwnKernels = "__wic_";

  OpenKernels& open_;
  TextCache names_;
};

}  // namespace

std::unique_ptr<Source> make_kernels(OpenKernels& open) { return std::make_unique<Kernels>(open); }

}  // namespace wicprof::collector
