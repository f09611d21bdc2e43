// Time that CUPTI and the driver use for themselves, so that reports do not attribute it to the program.
#include <cstdlib>

#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

class Overhead final : public Source {
 public:
  Overhead() : Source("overhead", {CUPTI_ACTIVITY_KIND_OVERHEAD}) {}

  Result<> enable(const Cupti& cupti) override {
    layouts_ = layouts_of(cupti.api.version);
    return Source::enable(cupti);
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto& record = reinterpret_cast<const OverheadRecord&>(any);
    const std::uint32_t kind = raw(record, &OverheadRecord::overheadKind);
    const auto event = translate(record, layouts_, batch.text(overhead_name(kind)));
    if (event) batch.write(*event);
    if (layouts_.overhead_data && kind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL) std::free(record.overheadData);
    return event.has_value();
  }

 private:
  Layouts layouts_;
};

}  // namespace

std::unique_ptr<Source> make_overhead() { return std::make_unique<Overhead>(); }

}  // namespace wicprof::collector
