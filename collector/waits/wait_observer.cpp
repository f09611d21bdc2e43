#include "collector/waits/wait_observer.h"

#include <algorithm>
#include <span>

#include "collector/program/python_frames.h"
#include "collector/waits/range_names.h"
#include "collector/waits/wait_sites.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

std::uint32_t meter_place(const PlaceOfWait& place) { return place.site == 0 ? 0 : place.site - WaitSites::kFirst + 1; }

/// 0: the default stream.
std::uint64_t handle_of(CUstream stream) {
  return stream == CU_STREAM_LEGACY ? 0 : reinterpret_cast<std::uint64_t>(stream);
}

/// Before the wait begins.
void reset(ThreadWait& wait, const PlaceOfWait& place) {
  wait.place = place;
  wait.strategy = StrategyId::poll;
  wait.polls = wait.naps = 0;
  wait.forecast.reset();
  wait.learns = true;
}

}  // namespace

bool WaitObserver::begin_known(WaitingThread& thread, const SeenCall& call, EventSink& sink) {
  if (!kWaitingCalls[call.number].by_runtime()) return false;
  KnownWait* const known =
      thread.known_waits.find(call.number, call.frame, object_of(call.number, call.params), call.context);
  if (known == nullptr || known->text_generation != sink.text_generation() || known->place->key != known->key ||
      control_.wanted_at(known->event.site) != StrategyId::poll || RangeNames::innermost() != nullptr) {
    return false;
  }
  if (!PythonFrames::none() && PythonFrames::of_process().innermost(thread.python) != known->function) return false;
  ThreadWait& wait = thread.wait;
  wait.depth = 1;
  wait.recording = recording_.load(std::memory_order_relaxed);
  reset(wait, {known->event.site, known->place->waits++, known->place});
  wait.outer = call.number;
  wait.number = known->call;
  wait.correlation = call.correlation;
  wait.from = known->from;
  thread.known = known;
  thread.cpu_meter.begin(meter_place(wait.place));
  wait.begin = std::max(clock_.now(), wait.last_end);
  if (thread.shown_as == known) {
    thread.shown.begin = wait.begin;
    thread.open_call.again(wait.begin);
  } else if (work_ != nullptr) {
    show(thread, call, awaitable_of(call.number, call.params));
    thread.shown_as = known;
  }
  return true;
}

bool WaitObserver::end_known(WaitingThread& thread, const SeenCall& call) {
  const ThreadWait& wait = thread.wait;
  const TimeNs now = std::max(clock_.now(), wait.begin);
  HostWaitEvent* const place = room(thread, now);
  if (place == nullptr) return false;
  thread.wait.depth = 0;
  thread.wait.last_end = now;
  thread.open_call.end();
  note_end(thread, call);
  *place = thread.known->event;
  place->begin_ns = wait.begin;
  place->end_ns = now;
  place->cpu_ns = thread.cpu_meter.end(wait.begin, now).cpu;
  place->iteration = wait.place.iteration;
  place->correlation = wait.correlation;
  thread.short_waits->commit();
  return true;
}

void WaitObserver::begin(WaitingThread& thread, const SeenCall& call, const std::optional<Awaitable>& what,
                         EventSink& sink) {
  ThreadWait& wait = thread.wait;
  // The end of the outer call came without a callback, which has been disabled meanwhile.
  if (wait.depth > 0 && call.correlation != wait.correlation && places_.ids_nest()) wait.depth = 0;
  if (wait.depth++ == 0) {
    wait.recording = recording_.load(std::memory_order_relaxed);
    wait.outer = call.number;
    wait.correlation = call.correlation;
    wait.frame = call.frame;
    thread.known = nullptr;
    thread.shown_as = nullptr;
    begin_outermost(thread, places_.place(thread, call.number, call.frame, sink));
  } else if (kWaitingCalls[wait.outer].in_driver() && places_.asked(wait.outer)) {
    places_.prove(thread, call.number, call.frame, call.correlation);
  }
  if (work_ != nullptr) show(thread, call, what);
}

void WaitObserver::begin_outermost(WaitingThread& thread, PlaceOfWait place) {
  ThreadWait& wait = thread.wait;
  reset(wait, place);
  thread.cpu_meter.begin(meter_place(place));
  wait.begin = std::max(now_ns(), wait.last_end);
}

bool WaitObserver::end(WaitingThread& thread, const SeenCall& call) {
  ThreadWait& wait = thread.wait;
  if (--wait.depth > 0 && places_.asked(wait.outer)) return false;
  wait.depth = 0;
  thread.open_call.end();
  note_end(thread, call);
  wait.last_end = std::max(now_ns(), wait.begin);
  wait.use = thread.cpu_meter.end(wait.begin, wait.last_end);
  return true;
}

void WaitObserver::write(WaitingThread& thread, const SeenCall& call, EventSink& sink) {
  ShortWaits* const kept = thread.short_waits;
  if (kept != nullptr && kept->full()) kept->pass_to(sink);
  if (HostWaitEvent* const place = room(thread, thread.wait.last_end)) {
    fill(thread, *place, sink);
    if (thread.known == nullptr) remember(thread, call, *place, sink);
    return kept->commit();
  }
  if (kept != nullptr && !kept->empty()) kept->pass_to(sink);  // in their order
  HostWaitEvent event;
  fill(thread, event, sink);
  sink.write_or_hold(event);
}

void WaitObserver::tick(EventBatch& batch) {
  ticks_.store(true, std::memory_order_relaxed);
  clock_.follow();
  process_.short_waits.each([&](ShortWaits& waits) {
    waits.pass_on([&](std::span<const HostWaitEvent> events) {
      for (const HostWaitEvent& event : events) batch.write(event);
    });
  });
}

void WaitObserver::finish(EventSink& sink) {
  ticks_ = false;
  process_.short_waits.each([&](ShortWaits& waits) { waits.pass_to(sink); });
}

/// Writes the call to the session's table for as long as it lasts. The driver's call within a runtime's call knows
/// what is waited for.
__attribute__((noinline)) void WaitObserver::show(WaitingThread& thread, const SeenCall& call,
                                                  const std::optional<Awaitable>& what) {
  OpenCall& shown = thread.shown;
  const bool outer = thread.wait.depth == 1;
  const std::uint64_t stream = what && what->kind == Awaited::stream ? handle_of(what->stream) : 0;
  const std::uint64_t handle = what && what->kind == Awaited::event ? reinterpret_cast<std::uint64_t>(what->event) : 0;
  const auto context = what ? reinterpret_cast<std::uint64_t>(call.context) : 0;
  const Awaited awaited = kWaitingCalls[call.number].awaited;
  if (outer && thread.shown_whole && thread.shown_number == thread.wait.number && shown.awaited == awaited &&
      shown.stream == stream && shown.handle == handle) {
    thread.context = context;
    shown.begin = thread.wait.begin;
    return thread.open_call.again(shown.begin);
  }
  if (outer) {
    if (thread.shown_number != thread.wait.number) {
      thread.shown_number = thread.wait.number;
      copy_name(shown.name, places_.name(thread.shown_number));
    }
    shown.begin = thread.wait.begin;
    shown.stream = shown.handle = thread.context = 0;
  }
  shown.awaited = awaited;
  if (what) {
    shown.stream = stream;
    shown.handle = handle;
    thread.context = context;
  }
  thread.open_call.begin(work_, shown);
  thread.shown_whole = true;
}

/// After a wait for a stream or a device, what was launched there before has ended.
void WaitObserver::note_end(const WaitingThread& thread, const SeenCall& call) {
  if (!process_.open_kernels.any()) return;
  const Awaited awaited = thread.shown.awaited;
  if (work_ == nullptr || (awaited != Awaited::stream && awaited != Awaited::device)) return;
  if (call.result != nullptr && *call.result != 0) return;
  process_.open_kernels.waited(thread.shown.stream, thread.context, awaited == Awaited::device, thread.wait.begin);
}

/// Room for the thread's wait, which has ended now, among those that are kept; nullptr: it is none of them, or there
/// is no room.
HostWaitEvent* WaitObserver::room(WaitingThread& thread, TimeNs now) const {
  const ThreadWait& wait = thread.wait;
  ShortWaits* const kept = thread.short_waits;
  if (now - wait.begin >= CpuMeter::kTooShortToSleep || kept == nullptr || wait.polls != 0 || wait.naps != 0 ||
      !ticks_.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  return kept->place();
}

/// A wait that has just been written, for the next ones that are like it.
void WaitObserver::remember(WaitingThread& thread, const SeenCall& call, const HostWaitEvent& event, EventSink& sink) {
  const ThreadWait& wait = thread.wait;
  const bool whole = wait.outer == call.number && kWaitingCalls[call.number].by_runtime() && wait.from != nullptr &&
                     wait.strategy == StrategyId::poll && wait.place.counts != nullptr && event.call != 0;
  if (!whole || RangeNames::innermost() != nullptr) return;
  const void* const* const returns = thread.caller.slot_of(call.number, wait.frame, wait.from);
  if (returns == nullptr) return;
  KnownWait& known = thread.known_waits.add();
  known = {call.number,
           wait.number,
           wait.frame,
           object_of(call.number, call.params),
           call.context,
           returns,
           wait.from,
           PythonFrames::of_process().innermost(thread.python),
           wait.place.counts,
           wait.place.counts->key,
           sink.text_generation(),
           event};
  thread.shown_as = &known;
}

/// From the thread's wait, which has ended.
void WaitObserver::fill(const WaitingThread& thread, HostWaitEvent& event, EventSink& sink) {
  const ThreadWait& wait = thread.wait;
  event = make_event<HostWaitEvent>();
  event.begin_ns = wait.begin;
  event.end_ns = wait.last_end;
  event.cpu_ns = wait.use.cpu;
  event.involuntary_switches = wait.use.involuntary_switches;
  event.run_delay_ns = wait.use.run_delay;
  event.site = wait.place.site;
  event.iteration = wait.place.iteration;
  event.call = text_of(wait.number, sink);
  event.thread = thread.id;
  event.correlation = wait.correlation;
  event.status = WaitStatus::satisfied;
  event.awaited = kWaitingCalls[wait.number].awaited;
  event.strategy = static_cast<std::uint8_t>(wait.strategy);
  event.polls = wait.polls;
  event.naps = wait.naps;
  if (wait.forecast) event.predicted_ns = wait.forecast->left;
}

/// The number of the call's name, for which the sink is asked only once.
TextId WaitObserver::text_of(std::uint32_t number, EventSink& sink) {
  const std::uint64_t generation = std::uint64_t{sink.text_generation()} + 1;
  std::uint64_t kept = texts_[number].load(std::memory_order_relaxed);
  if (kept >> 32 == generation) return static_cast<TextId>(kept);
  const TextId id = sink.text(places_.name(static_cast<std::uint8_t>(number)));
  if (id != 0) texts_[number].store(generation << 32 | id, std::memory_order_relaxed);  // 0: the ring was full
  return id;
}

}  // namespace wicprof::collector
