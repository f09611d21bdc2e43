#include "collector/waits/parking.h"

#include <optional>

#include "collector/waits/driver_scopes.h"

namespace wicprof::collector {

namespace {

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

bool may_park(ParkTools& tools, const Awaitable& what) {
  const OpenCaptures::Pause pause(tools.captures);
  const DriverApi& api = tools.driver;
  if (!pause || api.stream_query == nullptr || api.event_query == nullptr) return false;
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

Parked park(Snapshot& snapshot, StrategyId strategy, const std::function<WaitPlan(StrategyId)>& plan_for,
            Waiting& waiting, TimeNs begin) {
  Parked parked;
  WaitPlan plan = plan_for(strategy);
  for (;;) {
    const StrategyId wanted = waiting.wanted();
    if (wanted != StrategyId::poll && wanted != strategy) {
      strategy = wanted;
      plan = plan_for(strategy);
    }
    const TimeNs passed = waiting.now() - begin;
    if (wanted != StrategyId::poll && passed < plan.sleep) {
      ++parked.naps;
      waiting.sleep(plan.first_sleep(passed));
      continue;
    }
    if (wanted == StrategyId::poll || plan.to_driver) {  // `poll`: the program's own way
      waiting.leaves();
      parked.done = snapshot.wait() == Answer::done;
      return parked;
    }
    ++parked.polls;
    if (const Answer answer = snapshot.ask(); answer != Answer::pending) {
      parked.done = answer == Answer::done;
      return parked;  // the call reports an error itself
    }
    if (plan.shortest_nap == 0 || passed < plan.poll_until) {
      waiting.pause();
      continue;
    }
    ++parked.naps;
    waiting.sleep(plan.nap(passed));
  }
}

}  // namespace wicprof::collector
