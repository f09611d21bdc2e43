// Host threads that wait in a synchronizing call, including synchronous copies. Uses callbacks rather than records,
// because only the waiting thread can read its CPU time, which separates spinning waits from sleeping ones, and its
// scheduling delay.
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

#include "collector/cupti/call_names.h"
#include "collector/program/run_delay.h"
#include "collector/sources/list.h"
#include "protocol/events/host_wait.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

struct WaitingCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
};

constexpr WaitingCall kWaitingCalls[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaThreadSynchronize_v3020},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds},
};

// The calling thread's current wait. Runtime calls contain driver calls; only the outermost call is a wait.
struct OpenWait {
  int depth = 0;
  TimeNs begin = 0;
  TimeNs cpu = 0;
  Switches switches;
  TimeNs run_delay = -1;
};
thread_local OpenWait open_wait;
thread_local RunDelay run_delay;

std::uint32_t thread_id() {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

class HostWaits final : public Source {
 public:
  HostWaits() : Source("host_waits", {}) {}

  Result<> enable(const Cupti& cupti) override {
    std::string missing;
    for (std::size_t i = 0; i < std::size(kWaitingCalls); ++i) {
      const auto [domain, id] = kWaitingCalls[i];
      names_[i] = call_name(cupti.api, domain, id);
      const std::string what = "cuptiEnableCallback(" + names_[i] + ")";
      Result<> enabled = cupti_call(cupti.api, what, cupti.api.enable_callback(1, cupti.subscriber, domain, id));
      if (!enabled && missing.empty()) missing = enabled.error().message;
    }
    return missing.empty() ? ok() : unavailable(missing);
  }

  void disable(const Cupti& cupti) override {
    for (const auto [domain, id] : kWaitingCalls) cupti.api.enable_callback(0, cupti.subscriber, domain, id);
  }

  void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data,
                EventSink& sink) override {
    const std::string* name = name_of(domain, id);
    if (name == nullptr) return;
    OpenWait& wait = open_wait;
    if (data.callbackSite == CUPTI_API_ENTER) {
      if (wait.depth++ == 0) {
        wait.switches = Switches::now();
        wait.run_delay = run_delay.read(wait.switches);
        wait.cpu = thread_cpu_ns();
        wait.begin = now_ns();
      }
      return;
    }
    if (wait.depth == 0 || --wait.depth > 0) return;  // entered before the callbacks were enabled, or not the outermost
    HostWaitEvent event = make_event<HostWaitEvent>();
    event.end_ns = now_ns();
    event.begin_ns = wait.begin;
    event.cpu_ns = thread_cpu_ns() - wait.cpu;
    const Switches switches = Switches::now();
    const TimeNs delay = run_delay.read(switches);
    event.involuntary_switches = static_cast<std::uint32_t>(switches.involuntary - wait.switches.involuntary);
    event.run_delay_ns = delay < 0 || wait.run_delay < 0 ? -1 : delay - wait.run_delay;
    event.call = sink.text(*name);
    event.thread = thread_id();
    event.correlation = data.correlationId;
    event.status = WaitStatus::satisfied;
    sink.write_or_hold(event);
  }

 private:
  const std::string* name_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
    for (std::size_t i = 0; i < std::size(kWaitingCalls); ++i) {
      if (kWaitingCalls[i].domain == domain && kWaitingCalls[i].id == id) return &names_[i];
    }
    return nullptr;
  }

  std::string names_[std::size(kWaitingCalls)];
};

}  // namespace

std::unique_ptr<Source> make_host_waits() { return std::make_unique<HostWaits>(); }

}  // namespace wicprof::collector
