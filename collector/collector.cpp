#include "collector/collector.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <thread>

#include "collector/cupti/cupti_call.h"
#include "collector/program/own_thread.h"
#include "collector/program/unnoticed.h"
#include "collector/sources/list.h"
#include "collector/waits/range_names.h"
#include "protocol/notice.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

// How long the program's exit waits for a flush in progress, and then for space in the ring.
constexpr std::chrono::seconds kExitTimeout{2};
// How long reading a buffer may wait for space in the ring when no thread of the program waits for the reader.
constexpr TimeNs kRingTimeout = 250 * kMillisecond;

// The thread called CUDA or requested a buffer to record its call, so it probably belongs to the program.
thread_local bool on_program_thread = false;
thread_local bool on_own_thread = false;

std::uint64_t CUPTIAPI timestamp() { return static_cast<std::uint64_t>(now_ns()); }

constexpr std::chrono::milliseconds kLook{1};  // between two looks at what the program's threads still do

}  // namespace

Collector* Collector::instance_ = nullptr;
Gate<Collector> Collector::gate_;

Collector::Collector(const CuptiApi& api, EventSink& sink, RingHeader* ring, const Environment& environment,
                     const ControlBlock* control, Stay stay)
    : api_(api), sink_(sink), pages_(ring), environment_(environment), stay_(stay), capture_(control) {
  if (stay_ == Stay::for_good) {
    instance_ = this;
  } else {
    gate_.open(*this);
  }
}

/// Calls work(collector) for the collector that records. False: none does.
template <class Work>
bool Collector::visit(Work&& work) {
  if (instance_ != nullptr) {
    instance_->guard([&] { work(*instance_); });
    return true;
  }
  const Gate<Collector>::Visit visit(gate_);
  if (visit.object() == nullptr) return false;
  visit.object()->guard([&] { work(*visit.object()); });
  return true;
}

Result<> Collector::start(std::vector<std::unique_ptr<Source>> sources) {
  sources_ = std::move(sources);
  for (const auto& source : sources_) {
    if (source->wants_callbacks()) called_.push_back(source.get());
  }
  Result<> done = subscribe();
  const bool subscribed = static_cast<bool>(done);
  if (subscribed) done = set_up();
  if (done) return done;
  if (subscribed) api_.unsubscribe(subscriber_);
  if (stay_ == Stay::for_now) leave_callbacks();
  return done;
}

/// Of Stay::for_now: returns once no thread is in a callback, and none will be.
void Collector::leave_callbacks() {
  gate_.close();
  while (!gate_.is_left()) std::this_thread::sleep_for(kLook);
}

Result<> Collector::subscribe() {
  const auto callback = [](void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    const Unnoticed unnoticed;
    visit([&](Collector& collector) { collector.on_callback(domain, id, data); });
  };
  if (api_.subscribe_v2 == nullptr) {
    return cupti_call(api_, "cuptiSubscribe", api_.subscribe(&subscriber_, callback, nullptr));
  }
  char other[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "wic-prof";
  params.oldSubscriberName = other;
  params.oldSubscriberSize = sizeof other;
  const CUptiResult result = api_.subscribe_v2(&subscriber_, callback, nullptr, &params);
  other[sizeof other - 1] = '\0';
  const bool refused = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && other[0] != '\0';
  return cupti_call(
      api_, refused ? std::string("CUPTI is in use by '") + other + "': cuptiSubscribe" : "cuptiSubscribe", result);
}

Result<> Collector::set_up() {
  const auto requested = [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
    const Unnoticed unnoticed;
    *buffer = nullptr;
    *bytes = *max_records = 0;
    visit([&](Collector& collector) { collector.on_buffer_requested(buffer, bytes, max_records); });
  };
  const auto completed = [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
    const Unnoticed unnoticed;
    if (!visit([&](Collector& collector) { collector.on_buffer_completed(buffer, valid_bytes); })) std::free(buffer);
  };

  // Registered before any kind is enabled, so that all records use our clock.
  Result<> done =
      cupti_call(api_, "cuptiActivityRegisterTimestampCallback", api_.activity_register_timestamp_callback(timestamp));
  if (!done) return done;
  done = cupti_call(api_, "cuptiSetThreadIdType", api_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  if (!done) return done;
  done = cupti_call(api_, "cuptiActivityRegisterCallbacks", api_.activity_register_callbacks(requested, completed));
  if (!done) return done;

  // Without the first, CUPTI zeroes the pool's buffers again. With the second, as is its default, each thread has a
  // buffer of its own, which a program pays for each thread that it makes.
  for (const auto& [attribute, wanted] : {std::pair{CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, true},
                                          std::pair{CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, false}}) {
    if (api_.activity_set_attribute == nullptr) break;
    std::uint8_t value = wanted ? 1 : 0;
    std::size_t bytes = sizeof value;
    api_.activity_set_attribute(attribute, &bytes, &value);  // a CUPTI without it goes on as it did
  }
  if (environment_.flush_ms > 0) pool_.prepare();
  enable_sources({api_, subscriber_});
  if (environment_.flush_ms > 0) {
    done = cupti_call(api_, "cuptiActivityFlushPeriod", api_.activity_flush_period(environment_.flush_ms));
    if (!done) sink_.loss(LossSource::cupti, 1, done.error().message);
  }
  // Our flushing starts with the first context, since we are within cuInit() here. A device reset discards records, so
  // it is preceded by a flush.
  for (const auto& [domain, id] : std::map<CUpti_CallbackDomain, CUpti_CallbackId>{
           {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
           {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020}}) {
    done = cupti_call(api_, "cuptiEnableCallback", api_.enable_callback(1, subscriber_, domain, id));
    if (!done) sink_.loss(LossSource::cupti, 1, done.error().message);
  }
  if (stay_ == Stay::for_now) {  // the program's contexts were there before
    std::size_t dropped = 0;     // since an earlier recording
    api_.activity_get_num_dropped_records(nullptr, 0, &dropped);
    has_context_.store(true, std::memory_order_release);
    capture_.follow();
    start_flusher();
  }
  return ok();
}

void Collector::enable_sources(const Cupti& cupti) {
  for (const auto& source : sources_) {  // filled first: records may arrive as soon as a kind is enabled
    for (const CUpti_ActivityKind kind : source->kinds()) by_kind_[kind] = source.get();
  }
  for (const auto& source : sources_) report_if_failed(*source, source->prepare(cupti));
  capture_.begin([this, cupti](bool on) { guard([&] { switch_sources(cupti, on); }); });
}

void Collector::report_if_failed(const Source& source, const Result<>& enabled) {
  if (enabled) return;
  sink_.loss(LossSource::cupti, 1,
             std::string(source.name()) + " not recorded, or only in part: " + enabled.error().message);
}

void Collector::switch_sources(const Cupti& cupti, bool on) {
  if (off()) return;
  if (!on) declare();  // disable() may write events, which must follow the declarations
  for (const auto& source : sources_) {
    if (on) {
      report_if_failed(*source, source->enable(cupti));
    } else {
      source->disable(cupti);
    }
  }
}

void Collector::start_flusher() {
  if (environment_.flush_ms == 0) return;
  std::call_once(flusher_started_, [this] {
    const auto flush = [this] {
      guard([this] {
        if (off()) return;
        on_own_thread = true;
        announce_context();
        capture_.look();
        api_.activity_flush_all(0);
        read_filled_buffers();
        pool_.prepare();
        EventBatch batch(sink_, kRingTimeout);
        for (const auto& source : sources_) source->tick(batch);
        pages_.look();
      });
    };
    const auto read = [this] {
      guard([this] {
        on_own_thread = true;
        read_filled_buffers();
        pool_.prepare();
      });
    };
    if (!flusher_.start("wicprof-flush", std::chrono::milliseconds(environment_.flush_ms), flush, read)) {
      write_notice(sink_, NoticeSeverity::warning,
                   refused_thread("records arrive when buffers are full and at the end, not meanwhile"));
    }
  });
}

void Collector::announce_context() {
  // An exchange at every call would be an access that threads contend for.
  if (!has_context_.load(std::memory_order_acquire) || context_announced_.load(std::memory_order_relaxed)) return;
  if (context_announced_.exchange(true)) return;
  declare();
  for (const auto& source : sources_) report_if_failed(*source, source->context_created({api_, subscriber_}));
}

// Other threads do not wait for the one that declares, since that thread may wait for the driver.
void Collector::declare() {
  if (!has_context_.load(std::memory_order_acquire) || declared_.exchange(true)) return;
  EventBatch batch(sink_, ring_timeout());
  for (const auto& source : sources_) source->declare(batch);
}

void Collector::give_up(const char* why) noexcept {
  switch_off();
  try {
    sink_.loss(LossSource::cupti, 1, std::string("nothing more recorded: ") + why);
  } catch (const std::exception&) {
    // No memory for a message: the program continues unrecorded.
  }
}

void Collector::stop() {
  if (off()) return;
  exit_by_.store(now_ns() + std::chrono::nanoseconds(kExitTimeout).count(), std::memory_order_relaxed);
  capture_.stop(kExitTimeout);
  // If a flush hangs, another would hang too: its records are lost, and the program exits.
  if (flusher_.stop(kExitTimeout)) {
    api_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  } else {
    sink_.loss(LossSource::cupti, 1, "CUPTI did not hand over its last records before the program's exit");
  }
  read_the_rest();
}

void Collector::read_the_rest() {
  std::unique_lock lock(reader_mutex_, std::try_to_lock);
  while (!lock && now_ns() < exit_by_.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.try_lock();
  }
  if (!lock) {
    sink_.loss(LossSource::cupti, 1, "a buffer was still being read at the program's exit");
    return switch_off();
  }
  drain_filled();
  report_dropped();
  declare();
  for (const auto& source : sources_) source->finish(sink_);
  sink_.send_held(ring_timeout());
  sink_.all_written();
  switch_off();
}

void Collector::detach() {
  on_own_thread = true;
  // From here on, until the gate is closed, callbacks still come: they end what has begun.
  while (!capture_.stop(kExitTimeout)) {
  }
  const TimeNs let_go_by = now_ns() + std::chrono::nanoseconds(kExitTimeout).count();
  bool let_go = false;
  while (!let_go && now_ns() < let_go_by) {
    let_go = true;
    for (const auto& source : sources_) let_go = source->lets_go() && let_go;
    if (!let_go) std::this_thread::sleep_for(kLook);
  }
  while (!flusher_.stop(kExitTimeout)) {
  }
  exit_by_.store(now_ns() + std::chrono::nanoseconds(kExitTimeout).count(), std::memory_order_relaxed);
  if (!off()) {
    const Cupti cupti{api_, subscriber_};
    for (const auto& source : sources_) source->disable(cupti);
  }
  api_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  api_.unsubscribe(subscriber_);
  leave_callbacks();
  if (!off()) read_the_rest();
}

void Collector::on_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (off()) return;
  // Finding a variable of a thread takes a call, so that calls of CUDA do so once.
  const bool of_call = domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (!of_call || static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER)
    on_program_thread = true;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
      has_context_.store(true, std::memory_order_release);
      capture_.follow();
      start_flusher();
    }
    for (const auto& source : sources_) source->resource(id, *static_cast<const CUpti_ResourceData*>(data), sink_);
    return;
  }
  if (domain == CUPTI_CB_DOMAIN_NVTX) return RangeNames::callback(id, *static_cast<const CUpti_NvtxData*>(data));
  if (!of_call) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_EXIT && !context_announced_.load(std::memory_order_relaxed))
    announce_context();  // the call has released the driver's locks
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020) {
    if (call.callbackSite == CUPTI_API_ENTER) api_.activity_flush_all(0);
    return;
  }
  for (Source* source : called_) source->callback(domain, id, call, sink_);
}

void Collector::on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  on_program_thread = true;
  const BufferPool::Taken taken = off() ? BufferPool::Taken{} : pool_.take();
  if (taken.data != nullptr) sink_.add_unwritten(1);
  *buffer = taken.data;
  *bytes = taken.bytes;
  *max_records = 0;  // no limit
}

void Collector::on_buffer_completed(std::uint8_t* buffer, std::size_t valid_bytes) {
  if (off()) return;  // after a fork the pool's lock may stay locked forever
  if (buffer == nullptr || valid_bytes == 0) return give_back(buffer);
  {
    const std::lock_guard lock(filled_mutex_);
    filled_.push_back({buffer, valid_bytes});
  }
  // Spares the program's thread the work: it must not wait for space in the ring.
  if (on_program_thread && !on_own_thread && flusher_.request()) return;
  read_filled_buffers();
}

// The current reader also reads buffers that arrive meanwhile. No other thread waits for it, since it may wait for
// space in the ring.
void Collector::read_filled_buffers() {
  if (off()) return;
  for (;;) {
    std::unique_lock lock(reader_mutex_, std::try_to_lock);
    if (!lock) return;
    if (drain_filled() > 0) report_dropped();
    lock.unlock();
    // Checks for a buffer that arrived between the last read and the unlock.
    const std::lock_guard left(filled_mutex_);
    if (filled_.empty()) return;
  }
}

std::size_t Collector::drain_filled() {
  for (std::size_t count = 0;; ++count) {
    Filled next;
    {
      const std::lock_guard lock(filled_mutex_);
      if (filled_.empty()) return count;
      next = filled_.front();
      filled_.pop_front();
    }
    read_buffer(next.data, next.valid_bytes);
    give_back(next.data);
  }
}

void Collector::give_back(std::uint8_t* buffer) {
  if (buffer != nullptr) sink_.add_unwritten(-1);
  pool_.give(buffer);
}

TimeNs Collector::ring_timeout() const {
  if (const TimeNs exit_by = exit_by_.load(std::memory_order_relaxed); exit_by != 0)
    return std::max(exit_by - now_ns(), TimeNs{0});
  return on_program_thread && !on_own_thread ? 0 : kRingTimeout;
}

void Collector::read_buffer(std::uint8_t* buffer, std::size_t valid_bytes) {
  declare();
  EventBatch batch(sink_, ring_timeout());
  std::map<Source*, std::uint64_t> unusable;
  CUpti_Activity* record = nullptr;
  RecordStep step;
  while ((step = next_record(api_, buffer, valid_bytes, &record)) == RecordStep::record) {
    const auto kind = static_cast<std::size_t>(record->kind);
    Source* source = kind < by_kind_.size() ? by_kind_[kind] : nullptr;
    if (source != nullptr && !source->record(*record, batch)) ++unusable[source];
  }
  for (const auto& source : sources_) source->end_of_buffer(batch);
  for (const auto& [source, count] : unusable) {
    batch.loss(LossSource::cupti, count,
               std::string(source->name()) + " without usable times: still running when recording stopped, or not " +
                   "timed by CUPTI");
  }
  if (step == RecordStep::damaged) batch.loss(LossSource::cupti, 1, "the rest of a CUPTI buffer could not be read");
}

void Collector::report_dropped() {
  std::size_t dropped = 0;
  const CUptiResult result = api_.activity_get_num_dropped_records(nullptr, 0, &dropped);
  if (cupti_call(api_, "cuptiActivityGetNumDroppedRecords", result) && dropped > 0) {
    sink_.loss(LossSource::cupti, dropped, "CUPTI had no buffer space for records");
  }
}

}  // namespace wicprof::collector
