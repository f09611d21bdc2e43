#include "collector/waits/parking.h"

#include <algorithm>
#include <optional>

namespace wicprof::collector {

namespace {

/// For the object's lifetime, the calling thread's calls do not disturb captures of other threads.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const DriverApi& api) : api_(api) {
    exchanged_ = api_.exchange_capture_mode != nullptr && api_.exchange_capture_mode(&mode_) == CUDA_SUCCESS;
  }
  ~RelaxedCapture() {
    if (exchanged_) api_.exchange_capture_mode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  explicit operator bool() const { return exchanged_; }

 private:
  const DriverApi& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool exchanged_ = false;
};

/// For the object's lifetime, a context is the calling thread's current one.
class CurrentContext {
 public:
  /// nullptr: the one that is current anyway.
  CurrentContext(const DriverApi& api, CUcontext context) : api_(api) {
    if (api_.current_context == nullptr || api_.current_context(&is_) != CUDA_SUCCESS) is_ = nullptr;
    if (context == nullptr || context == is_) return;
    is_ = nullptr;
    if (api_.push_context == nullptr || api_.pop_context == nullptr) return;
    pushed_ = api_.push_context(context) == CUDA_SUCCESS;
    if (pushed_) is_ = context;
  }
  ~CurrentContext() {
    CUcontext popped = nullptr;
    if (pushed_) api_.pop_context(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  /// nullptr: none, or the driver refuses.
  CUcontext get() const { return is_; }

 private:
  const DriverApi& api_;
  CUcontext is_ = nullptr;
  bool pushed_ = false;
};

/// An event behind all work of a context, for one wait.
class ContextEvent {
 public:
  ContextEvent(const DriverApi& api, CUcontext of) : api_(api) {
    if (api_.record_context == nullptr || api_.create_event == nullptr || api_.destroy_event == nullptr) return;
    const CurrentContext current(api_, of);
    const CUcontext context = current.get();
    if (context == nullptr) return;
    if (api_.create_event(&event_, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
    recorded_ = api_.record_context(context, event_) == CUDA_SUCCESS;
  }
  ~ContextEvent() {
    if (event_ != nullptr) api_.destroy_event(event_);
  }
  ContextEvent(const ContextEvent&) = delete;
  ContextEvent& operator=(const ContextEvent&) = delete;
  CUevent get() const { return recorded_ ? event_ : nullptr; }

 private:
  const DriverApi& api_;
  CUevent event_ = nullptr;
  bool recorded_ = false;
};

/// Asks the driver. CUDA_ERROR_NOT_SUPPORTED: nothing to ask for.
CUresult ask(const DriverApi& api, const Awaitable& what, CUevent of_context) {
  if (what.kind == Awaited::event) return api.event_query(what.event);
  if (what.kind != Awaited::device) return api.stream_query(what.stream);
  return of_context == nullptr ? CUDA_ERROR_NOT_SUPPORTED : api.event_query(of_context);
}

/// How the context of the work has its host threads wait; nothing where the driver does not say.
std::optional<unsigned> scheduling(const DriverApi& api, const Awaitable& what) {
  CUcontext context = what.context;
  if (what.kind != Awaited::device &&
      (api.stream_context == nullptr || api.stream_context(what.stream, &context) != CUDA_SUCCESS))
    return std::nullopt;
  const CurrentContext current(api, context);
  unsigned flags = 0;
  if (current.get() == nullptr || api.context_flags == nullptr || api.context_flags(&flags) != CUDA_SUCCESS)
    return std::nullopt;
  return flags & CU_CTX_SCHED_MASK;
}

}  // namespace

bool may_park(const DriverApi& api, const Awaitable& what) {
  if (api.stream_query == nullptr || api.event_query == nullptr) return false;
  if (what.kind != Awaited::event) {  // an event has a flag of its own
    const std::optional<unsigned> flags = scheduling(api, what);
    if (!flags || *flags == CU_CTX_SCHED_BLOCKING_SYNC) return false;
  }
  if (what.kind != Awaited::stream && what.kind != Awaited::copy) return true;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (api.stream_is_capturing == nullptr || api.stream_is_capturing(what.stream, &capture) != CUDA_SUCCESS)
    return false;
  if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return false;
  CUstreamAttrValue policy{};
  if (api.stream_get_attribute != nullptr &&
      api.stream_get_attribute(what.stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &policy) == CUDA_SUCCESS) {
    return policy.syncPolicy != CU_SYNC_POLICY_BLOCKING_SYNC;
  }
  return true;
}

Parked park(const DriverApi& api, const Awaitable& what, StrategyId strategy,
            const std::function<WaitPlan(StrategyId)>& plan_for, Waiting& waiting, TimeNs begin) {
  Parked parked;
  const RelaxedCapture relaxed(api);
  if (!relaxed) return parked;
  std::optional<ContextEvent> of_context;
  WaitPlan plan = plan_for(strategy);
  for (;;) {
    const StrategyId wanted = waiting.wanted();
    if (wanted == StrategyId::poll) return parked;  // the program's own way
    if (wanted != strategy) {
      strategy = wanted;
      plan = plan_for(strategy);
    }
    // Before the sleep, since the event also covers what other threads launch until it is recorded.
    if (what.kind == Awaited::device && !plan.to_driver && !of_context) of_context.emplace(api, what.context);
    const TimeNs passed = waiting.now() - begin;
    if (passed < plan.sleep) {
      ++parked.naps;
      waiting.sleep(plan.first_sleep(passed));
      continue;
    }
    const CUevent context_event = of_context ? of_context->get() : nullptr;
    if (plan.to_driver || (what.kind == Awaited::device && context_event == nullptr)) return parked;
    ++parked.polls;
    const CUresult answer = ask(api, what, context_event);
    if (answer != CUDA_ERROR_NOT_READY) {
      parked.done = answer == CUDA_SUCCESS;
      return parked;  // the call reports an error itself
    }
    if (plan.shortest_nap == 0 || passed < plan.poll_until) continue;
    ++parked.naps;
    waiting.sleep(plan.nap(passed));
  }
}

}  // namespace wicprof::collector
