// Copies, including copies between GPUs, and memsets.
#include "collector/rewrite/word_writers.h"
#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

class Copies final : public Source {
 public:
  Copies() : Source("copies", {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET}) {}

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto event = event_of(any);
    if (!event) return false;
    batch.write(*event);
    WordWriters::of_process().executed(event->correlation, event->start_ns);
    return true;
  }

 private:
  static std::optional<CopyEvent> event_of(const CUpti_Activity& any) {
    switch (any.kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        return translate(reinterpret_cast<const CopyRecord&>(any));
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return translate(reinterpret_cast<const PeerCopyRecord&>(any));
      case CUPTI_ACTIVITY_KIND_MEMSET:
        return translate(reinterpret_cast<const MemsetRecord&>(any));
      default:
        return std::nullopt;
    }
  }
};

}  // namespace

std::unique_ptr<Source> make_copies() { return std::make_unique<Copies>(); }

}  // namespace wicprof::collector
