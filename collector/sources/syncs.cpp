// Synchronizations: threads and streams that wait for a stream, an event or a context.
#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

class Syncs final : public Source {
 public:
  Syncs() : Source("syncs", {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}) {}

  Result<> enable(const Cupti& cupti) override {
    layouts_ = layouts_of(cupti.api.version);
    if (Result<> enabled = Source::enable(cupti); !enabled) return enabled;
    // A query that finds the work undone makes a record as well. It stands among the calls already, and a thread that
    // polls makes them by the million. An older CUPTI has none of them, or cannot leave them out.
    if (cupti.api.activity_enable_all_sync_records != nullptr) cupti.api.activity_enable_all_sync_records(0);
    return ok();
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = translate(reinterpret_cast<const SyncRecord&>(any), layouts_);
    if (event) batch.write(*event);
    return event.has_value();
  }

 private:
  Layouts layouts_;
};

}  // namespace

std::unique_ptr<Source> make_syncs() { return std::make_unique<Syncs>(); }

}  // namespace wicprof::collector
