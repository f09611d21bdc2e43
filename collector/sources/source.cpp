#include "collector/sources/source.h"

namespace wicprof::collector {

Result<> Source::prepare(const Cupti&) { return ok(); }

Result<> Source::enable(const Cupti& cupti) {
  for (const CUpti_ActivityKind kind : kinds_) {
    const std::string what = "cuptiActivityEnable(" + std::to_string(kind) + ", for " + std::string(name_) + ")";
    if (Result<> enabled = cupti_call(cupti.api, what, cupti.api.activity_enable(kind)); !enabled) return enabled;
  }
  return ok();
}

void Source::disable(const Cupti& cupti) {
  for (const CUpti_ActivityKind kind : kinds_) cupti.api.activity_disable(kind);
}

Result<> Source::context_created(const Cupti&) { return ok(); }

void Source::declare(EventBatch&) {}

bool Source::record(const CUpti_Activity&, EventBatch&) { return false; }

void Source::end_of_buffer(EventBatch&) {}

void Source::callback(CUpti_CallbackDomain, CUpti_CallbackId, const CUpti_CallbackData&, EventSink&) {}

void Source::resource(CUpti_CallbackId, const CUpti_ResourceData&, EventSink&) {}

void Source::tick(EventBatch&) {}

void Source::finish(EventSink&) {}

}  // namespace wicprof::collector
