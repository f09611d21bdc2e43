// Managed memory: page faults, migrations and thrashing, with addresses.
#include <iterator>
#include <mutex>

#include "collector/sources/list.h"
#include "collector/translate/translate.h"

namespace wicprof::collector {

namespace {

constexpr CUpti_ActivityUnifiedMemoryCounterKind kCounters[] = {
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
};

class Uvm final : public Source {
 public:
  Uvm() : Source("uvm", {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER}) {}

  // CUPTI accepts the counters only after cuInit(). enable() therefore subscribes to allocations of managed memory: the
  // counters are on before the program touches any of it.
  Result<> prepare(const Cupti& cupti) override {
    layouts_ = layouts_of(cupti.api.version);
    return ok();
  }

  Result<> enable(const Cupti& cupti) override {
    if (cupti.api.activity_configure_unified_memory_counter == nullptr) {
      return unavailable(
          "this CUPTI has no cuptiActivityConfigureUnifiedMemoryCounter; use the CUPTI of CUDA 12 or newer");
    }
    for (const auto& [domain, id] : {std::pair<CUpti_CallbackDomain, CUpti_CallbackId>{
                                         CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000},
                                     {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged}}) {
      Result<> enabled = cupti_call(cupti.api, "cuptiEnableCallback(managed memory)",
                                    cupti.api.enable_callback(1, cupti.subscriber, domain, id));
      if (!enabled) return enabled;
    }
    const std::lock_guard lock(mutex_);
    on_ = true;
    return configured_ ? Source::enable(cupti) : ok();
  }

  void disable(const Cupti& cupti) override {
    const std::lock_guard lock(mutex_);
    on_ = false;
    if (configured_) Source::disable(cupti);
  }

  Result<> context_created(const Cupti& cupti) override {
    if (cupti.api.activity_configure_unified_memory_counter == nullptr) return ok();  // enable() has reported it
    Result<> done = configure(cupti.api, std::size(kCounters));
    // An older CUPTI lacks the last kind.
    if (!done) done = configure(cupti.api, std::size(kCounters) - 1);
    if (!done) return done;
    const std::lock_guard lock(mutex_);
    configured_ = true;
    return on_ ? Source::enable(cupti) : ok();
  }

  bool record(const CUpti_Activity& any, EventBatch& batch) override {
    const auto& record = reinterpret_cast<const UvmRecord&>(any);
    const auto event = translate(record, layouts_, batch.text(uvm_cause(record)));
    if (event) batch.write(*event);
    return event.has_value();
  }

 private:
  static Result<> configure(const CuptiApi& api, std::size_t count) {
    CUpti_ActivityUnifiedMemoryCounterConfig configurations[std::size(kCounters)] = {};
    for (std::size_t i = 0; i < count; ++i) {
      configurations[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
      configurations[i].kind = kCounters[i];
      configurations[i].enable = 1;
    }
    return cupti_call(api, "cuptiActivityConfigureUnifiedMemoryCounter",
                      api.activity_configure_unified_memory_counter(configurations, static_cast<std::uint32_t>(count)));
  }

  Layouts layouts_;
  std::mutex mutex_;  // recording may begin and end during context_created()
  bool on_ = false;
  bool configured_ = false;
};

}  // namespace

std::unique_ptr<Source> make_uvm() { return std::make_unique<Uvm>(); }

}  // namespace wicprof::collector
