#include "collector/collector.h"

#include <map>

#include "collector/cupti_call.h"
#include "collector/sources/list.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

// How long the program's exit waits for a flush that is under way.
constexpr std::chrono::seconds kExitPatience{2};

std::uint64_t CUPTIAPI timestamp() { return static_cast<std::uint64_t>(now_ns()); }

}  // namespace

Collector* Collector::instance_ = nullptr;

Collector::Collector(const CuptiApi& api, EventSink& sink, const Environment& environment, const ControlBlock* control)
    : api_(api), sink_(sink), environment_(environment), capture_(control) {
  instance_ = this;
}

Result<> Collector::start() {
  const auto callback = [](void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    static_cast<Collector*>(self)->on_callback(domain, id, data);
  };
  const auto requested = [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    instance_->on_buffer_requested(buffer, bytes, max_records);
  };
  const auto completed = [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    instance_->on_buffer_completed(buffer, valid_bytes);
  };

  Result<> done = cupti_call(api_, "cuptiSubscribe", api_.subscribe(&subscriber_, callback, this));
  if (!done) return done;
  // Before any kind is enabled: only then are all records on our clock.
  done =
      cupti_call(api_, "cuptiActivityRegisterTimestampCallback", api_.activity_register_timestamp_callback(timestamp));
  if (!done) return done;
  done = cupti_call(api_, "cuptiSetThreadIdType", api_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  if (!done) return done;
  done = cupti_call(api_, "cuptiActivityRegisterCallbacks", api_.activity_register_callbacks(requested, completed));
  if (!done) return done;

  enable_sources({api_, subscriber_});
  if (environment_.flush_ms > 0) {
    done = cupti_call(api_, "cuptiActivityFlushPeriod", api_.activity_flush_period(environment_.flush_ms));
    if (!done) sink_.loss(LossSource::cupti, 1, done.error().message);
  }
  // The first context starts our flushing (not cuInit, in which we are); a reset is the last chance to flush before it.
  for (const auto& [domain, id] : std::map<CUpti_CallbackDomain, CUpti_CallbackId>{
           {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
           {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020}}) {
    done = cupti_call(api_, "cuptiEnableCallback", api_.enable_callback(1, subscriber_, domain, id));
    if (!done) sink_.loss(LossSource::cupti, 1, done.error().message);
  }
  return ok();
}

void Collector::enable_sources(const Cupti& cupti) {
  Selection selection = select_sources(environment_.trace);
  for (const std::string& word : selection.unknown) {
    sink_.loss(LossSource::cupti, 1, std::string(kTraceVariable) + " names no such source: '" + word +
                      "'; it takes cuda, nvtx, none, devices, kernels, copies, calls and host_waits");
  }
  sources_ = std::move(selection.sources);
  for (const auto& source : sources_) {  // first the table: records may come as soon as a kind is enabled
    for (const CUpti_ActivityKind kind : source->kinds()) by_kind_[kind] = source.get();
  }
  capture_.begin([this, cupti](bool on) { switch_sources(cupti, on); });
}

void Collector::switch_sources(const Cupti& cupti, bool on) {
  if (off()) return;
  for (const auto& source : sources_) {
    if (!on) {
      source->disable(cupti);
    } else if (Result<> enabled = source->enable(cupti); !enabled) {
      sink_.loss(LossSource::cupti, 1, std::string(source->name()) + " not recorded, or not all: " + enabled.error().message);
    }
  }
}

void Collector::start_flusher() {
  if (environment_.flush_ms == 0) return;
  std::call_once(flusher_started_, [this] {
    flusher_.start(std::chrono::milliseconds(environment_.flush_ms), [this] {
      if (!off()) api_.activity_flush_all(0);
    });
  });
}

void Collector::stop() {
  if (off()) return;
  capture_.stop(kExitPatience);
  // A flush that hangs would hang the next one as well; what it holds is lost, and the program exits.
  if (flusher_.stop(kExitPatience)) {
    api_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  } else {
    sink_.loss(LossSource::cupti, 1, "CUPTI did not hand over its last records before the program's exit");
  }
  const std::lock_guard lock(read_mutex_);
  report_dropped();
  for (const auto& source : sources_) source->finish(sink_);
  switch_off();
}

void Collector::on_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (off()) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
      capture_.follow();
      start_flusher();
    }
    return;
  }
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020) {
    if (call.callbackSite == CUPTI_API_ENTER) api_.activity_flush_all(0);
    return;
  }
  for (const auto& source : sources_) source->callback(domain, id, call, sink_);
}

void Collector::on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = off() ? nullptr : pool_.take();
  *bytes = *buffer != nullptr ? BufferPool::kBufferBytes : 0;
  *max_records = 0;  // as many as fit
}

void Collector::on_buffer_completed(std::uint8_t* buffer, std::size_t valid_bytes) {
  if (off()) return;  // the pool's lock may be another thread's for ever, after a fork
  if (buffer != nullptr && valid_bytes > 0) {
    const std::lock_guard lock(read_mutex_);
    read_buffer(buffer, valid_bytes);
    report_dropped();
  }
  pool_.give(buffer);
}

void Collector::read_buffer(std::uint8_t* buffer, std::size_t valid_bytes) {
  std::map<Source*, std::uint64_t> unusable;
  CUpti_Activity* record = nullptr;
  RecordStep step;
  while ((step = next_record(api_, buffer, valid_bytes, &record)) == RecordStep::record) {
    const auto kind = static_cast<std::size_t>(record->kind);
    Source* source = kind < by_kind_.size() ? by_kind_[kind] : nullptr;
    if (source != nullptr && !source->record(*record, sink_)) ++unusable[source];
  }
  for (const auto& [source, count] : unusable) {
    sink_.loss(LossSource::cupti, count, std::string(source->name()) + " without usable times: still running when recording stopped, or " +
                          "CUPTI could not time them");
  }
  if (step == RecordStep::damaged) sink_.loss(LossSource::cupti, 1, "the rest of a CUPTI buffer could not be read");
}

void Collector::report_dropped() {
  std::size_t dropped = 0;
  const CUptiResult asked = api_.activity_get_num_dropped_records(nullptr, 0, &dropped);
  if (cupti_call(api_, "cuptiActivityGetNumDroppedRecords", asked) && dropped > 0) {
    sink_.loss(LossSource::cupti, dropped, "CUPTI had no buffer space for records");
  }
}

}  // namespace wicprof::collector
