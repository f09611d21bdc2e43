#include "collector/waits/parker.h"

#include "collector/waits/driver_scopes.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/waiting_here.h"

namespace wicprof::collector {

namespace {

/// Of so many waits at a place whose waits are too short to sleep in, one asks for a forecast and is learned from,
/// which takes a microsecond; a wait that is longer than expected ends that. Not calibrated.
constexpr std::uint32_t kShortWaits = 16;
/// Ticks without a wait for an event after which the callbacks of kRecordCalls are disabled. Not calibrated.
constexpr int kTicksWithoutEvents = 20;

}  // namespace

Parker::Parker(WaitsOfProcess& process, HostControl& control, const WaitSites& sites, NotedCalls& noted)
    : control_(control),
      sites_(sites),
      noted_(noted),
      driver_(process.driver),
      replaced_(driver_, handles_, process.threads, noted.listeners()),
      tools_{driver_, noted.captures(), handles_, events_} {}

void Parker::on_watching(std::function<void(bool)> records, std::function<void(bool)> launches) {
  events_.on_watching(std::move(records));
  others_.on_watching(std::move(launches), [this] { control_.wake(); });
}

void Parker::tick() {
  others_.tick();
  idle_ticks_ = events_.idle() ? idle_ticks_ + 1 : 0;
  if (idle_ticks_ < kTicksWithoutEvents) return;
  idle_ticks_ = 0;
  events_.stop_watching();
}

void Parker::returned(WaitingThread& thread) {
  thread.others_wait.reset();
  if (!thread.capture_mode) return;
  driver_.exchange_capture_mode(&*thread.capture_mode);
  thread.capture_mode.reset();
}

void Parker::ended(WaitingThread& thread) {
  if (thread.experience == nullptr) return;
  const ThreadWait& wait = thread.wait;
  Experience& known = *thread.experience;
  if (wait.use.computed >= 0) {
    TimeNs& computing = known.computing;
    computing = computing < 0 ? wait.use.computed : computing + (wait.use.computed - computing) / kRecentComputing;
  }
  if (wait.strategy != StrategyId::hybrid) return;
  const bool expected = wait.way == HybridWay::polls && is_short(wait.last_end - wait.begin);
  if (!expected) known.short_waits = 0;
  if (wait.learns || !expected) known.past = PastWait{wait, known.work};
  known.launches += known.work.launches;
  known.work = {};
}

void Parker::note(WaitingThread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool begins = data.callbackSite == CUPTI_API_ENTER;
  if (begins) {
    const CallingDriver calling(thread);
    if (const CUevent changed = NotedCalls::changed_event(id, data.functionParams)) events_.changes(changed);
  }
  noted_.note(id, data);
  if (begins && NotedCalls::begins_capture(id)) others_.begins_capture(thread.id);
}

void Parker::wait_in_place(WaitingThread& thread, const Awaitable& what, const CallEntry& call, EventSink& sink) {
  ThreadWait& wait = thread.wait;
  const std::uint32_t site = sites_.session_number(wait.place.site);
  const StrategyId strategy = control_.wanted(site);
  if (strategy != StrategyId::hybrid) thread.time_slice.restore();
  if (strategy == StrategyId::poll) return;
  if (what.kind == Awaited::event && !noted_.events().contains(what.event)) return;
  // Nothing of ours can end these calls before work that comes later: whoever begins that has them go on first.
  const bool for_all = what.kind == Awaited::device || (what.kind != Awaited::event && what.stream == CU_STREAM_LEGACY);
  const bool is_copy = what.kind == Awaited::copy, gives_way = for_all || is_copy;
  if (gives_way && !others_.quiet()) return;
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
  const OwnCalls::Span own(thread.own_calls, thread.id);
  RelaxedCapture relaxed(driver_);
  if (!relaxed || !may_park(tools_, what)) {
    wait.strategy = StrategyId::poll;
    wait.forecast.reset();
    return;
  }
  const Whose whose = for_all ? Whose::everybodys : what.kind != Awaited::event ? Whose::streams : Whose::nobodys;
  OthersWork::Wait& others = thread.others_wait.emplace(others_, thread.id, whose, what.stream);
  if (gives_way) others.give_way();
  Snapshot snapshot(tools_, what);
  if (!snapshot) return thread.others_wait.reset();  // done already, or the driver's to wait for
  // Tries it while the thread waits anyway.
  if (!replaced_.taken(call.id, snapshot.context())) others.give_way();
  WaitingHere waiting(control_, site, known.sleeps, thread.cpu_meter, others);
  const Parked parked = park(snapshot, strategy, plan_for, waiting, wait.begin);
  wait.polls += parked.polls;
  wait.naps += parked.naps;
  others.leaves();
  if (parked.done && !is_copy) {
    // The call of an idle stream returns at once by itself, and does all that it does.
    const bool idle = !noted_.captures().any() && what.kind != Awaited::event && !others.interrupted();
    if (!idle) settle(thread, snapshot.context(), call, relaxed);
  }
  others.returns();
}

void Parker::settle(WaitingThread& thread, CUcontext context, const CallEntry& call, RelaxedCapture& relaxed) {
  if (!replaced_.taken(call.id, context) || !replaced_.replace(call.id, call.params, context)) return;
  if (noted_.captures().any()) thread.capture_mode = relaxed.keep();  // else the capture would forbid the call
}

}  // namespace wicprof::collector
