#include "collector/waits/parker.h"

#include "collector/program/pause.h"
#include "collector/waits/driver_scopes.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/waiting_here.h"

namespace wicprof::collector {

namespace {

/// Of so many waits at a place whose waits are too short to sleep in, one asks for a forecast and is learned from,
/// which takes a microsecond; a wait that is longer than expected ends that. Not calibrated.
constexpr std::uint32_t kShortWaits = 16;
/// For so long a program whose other threads feed what one waits for has its calls to itself. Not calibrated.
constexpr TimeNs kFedFor = 10 * kSecond;
/// Where nothing has come since, the driver says so sooner. Not calibrated.
constexpr TimeNs kNothingTakes = 50 * kMicrosecond;
/// Ticks without a wait for an event after which the callbacks of kRecordCalls are disabled. Not calibrated.
constexpr int kIdleTicks = 20;

}  // namespace

Parker::Parker(HostControl& control, const WaitSites& sites, NotedCalls& noted)
    : control_(control), sites_(sites), noted_(noted), tools_{driver_, noted.captures(), handles_, events_} {}

void Parker::on_watching(std::function<void(bool)> change) {
  watch_ = std::move(change);
  events_.on_first_wait([this] { watch_(true); });
}

void Parker::tick() {
  idle_ticks_ = events_.idle() ? idle_ticks_ + 1 : 0;
  if (idle_ticks_ < kIdleTicks) return;
  idle_ticks_ = 0;
  events_.stopped_watching();
  watch_(false);
}

void Parker::note(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool begins = data.callbackSite == CUPTI_API_ENTER;
  if (begins) {
    const CallingDriver calling(of_thread());
    if (NotedCalls::ends_primary_context(id)) return handles_.primary_context_may_end();
    if (const CUevent changed = NotedCalls::changed_event(id, data.functionParams)) events_.changes(changed);
  }
  noted_.note(id, data);
}

void Parker::wait_in_place(WaitingThread& thread, const Awaitable& what, const CallEntry& call, EventSink& sink) {
  ThreadWait& wait = thread.wait;
  const std::uint32_t site = sites_.session_number(wait.place.site);
  const StrategyId strategy = control_.wanted(site);
  if (strategy != StrategyId::hybrid) thread.time_slice.restore();
  if (strategy == StrategyId::poll) return;
  if (what.kind == Awaited::event && !noted_.events().contains(what.event)) return;
  if (what.kind == Awaited::copy && wait.begin < copies_wait_until_.load(std::memory_order_relaxed)) return;
  if (what.kind == Awaited::device && wait.begin < devices_wait_until_.load(std::memory_order_relaxed)) return;
  wait.strategy = strategy;
  thread.known_waits.forget();
  Experience& known = thread.experienced();
  if (strategy == StrategyId::hybrid && known.short_waits > 0 && known.short_place == wait.place.site) {
    --known.short_waits;
    wait.learns = false;
    wait.strategy = strategy;
    wait.forecast = known.short_forecast;
    wait.way = HybridWay::polls;
    return;
  }
  learning_.learn_past(known, sink);
  SleepCosts costs = control_.costs();
  costs.late = known.sleeps.late(costs.late);
  costs.contended = known.contention.contended();
  // It stays short while `hybrid` is in force: the waits without a CPU that it spares say nothing about others.
  if (known.computing < 0 || !TimeSlice::fits(known.computing)) {
    thread.time_slice.restore();
  } else if (strategy == StrategyId::hybrid && costs.contended) {
    thread.time_slice.shorten();
  }
  wait.forecast = known.predictor.forecast(wait.place.site, known.work, wait.begin);
  const auto plan_for = [&](StrategyId of) {
    wait.strategy = of;
    const WaitPlan plan = plan_of(of, wait.forecast, costs);
    wait.way = way_of(wait.forecast, plan);
    return plan;
  };
  if (const WaitPlan plan = plan_for(strategy); plan.to_driver && plan.sleep == 0) {
    if (wait.forecast && wait.way == HybridWay::polls && is_short(wait.forecast->left)) {
      known.short_place = wait.place.site;
      known.short_waits = kShortWaits - 1;
      known.short_forecast = *wait.forecast;
    }
    return;  // a short one: costs nothing
  }
  const CallingDriver guard(thread);
  const OwnCalls::Span own(OwnCalls::of_process(), thread.id);
  const RelaxedCapture relaxed(driver_);
  if (!relaxed || !may_park(tools_, what)) {
    wait.strategy = StrategyId::poll;
    wait.forecast.reset();
    return;
  }
  Snapshot snapshot(tools_, what);
  if (!snapshot) return;  // done already, or the driver's to wait for
  if (what.kind == Awaited::device) handles_.idle_context(snapshot.context(), true);
  WaitingHere waiting(control_, site, known.sleeps, thread.cpu_meter);
  const Parked parked = park(snapshot, strategy, plan_for, waiting, wait.begin);
  wait.polls += parked.polls;
  wait.naps += parked.naps;
  if (parked.done) settle(snapshot, what, call);
}

void Parker::settle(Snapshot& snapshot, const Awaitable& what, const CallEntry& call) {
  // The call of an idle stream or device returns at once by itself, and does all that it does.
  if (what.kind != Awaited::event && !fed(what)) return;
  const CUcontext context = snapshot.context();
  if (replaced_.taken(call.id, context) && replaced_.replace(call.id, call.params, context)) return;
  if (what.kind == Awaited::copy) copies_wait_until_ = now_ns() + kFedFor;
  if (what.kind == Awaited::device) devices_wait_until_ = now_ns() + kFedFor;
}

bool Parker::fed(const Awaitable& what) {
  // The driver knows of the end of a stream's work a little later than of an event behind that work.
  for (const TimeNs until = now_ns() + kNothingTakes; now_ns() < until; pause_briefly()) {
    if (what.kind == Awaited::device) {
      Snapshot now(tools_, what);
      while (now && now.ask() == Answer::pending && now_ns() < until) pause_briefly();
      if (now && now.ask() == Answer::done) return false;
    } else {
      const OpenCaptures::Pause pause(noted_.captures());
      if (pause && driver_.stream_query(what.stream) == CUDA_SUCCESS) return false;
    }
    if (noted_.captures().any()) return true;
  }
  return true;
}

}  // namespace wicprof::collector
