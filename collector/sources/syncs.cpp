// Synchronizations: threads and streams waiting for a stream, an event or a context.
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
    // Excludes queries that find their work unfinished: the calls contain them already, and a polling thread makes
    // millions. An older CUPTI has no records of queries, or cannot exclude them.
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
