// Host threads that wait in a synchronizing call, including synchronous copies. Uses callbacks rather than records,
// because only the waiting thread can read its CPU time, which separates spinning waits from sleeping ones, and its
// scheduling delay; and because only that thread can wait in the call's place, once a toggle asks for that.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <string>

#include "collector/cupti/call_names.h"
#include "collector/program/counter_clock.h"
#include "collector/program/loaded_module.h"
#include "collector/program/python_frames.h"
#include "collector/program/short_slices.h"
#include "collector/rewrite/own_code.h"
#include "collector/sources/list.h"
#include "collector/waits/call_places.h"
#include "collector/waits/driver_questions.h"
#include "collector/waits/experience.h"
#include "collector/waits/host_control.h"
#include "collector/waits/host_copy.h"
#include "collector/waits/noted_calls.h"
#include "collector/waits/open_kernels.h"
#include "collector/waits/own_calls.h"
#include "collector/waits/parker.h"
#include "collector/waits/range_names.h"
#include "collector/waits/short_waits.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_calls.h"
#include "collector/waits/waiting_thread.h"
#include "collector/waits/watched_launches.h"
#include "protocol/events/host_wait.h"
#include "protocol/open_work.h"
#include "protocol/time.h"

namespace wicprof::collector {

namespace {

class HostWaits final : public Source {
 public:
  HostWaits(ControlBlock* control, OpenWork* work)
      : Source("host_waits", {}), sites_(control), control_(control, sites_), work_(work) {}

  Result<> prepare(const Cupti& cupti) override {
    NotedCalls::each([&](CUpti_CallbackId id) { cupti.api.enable_callback(1, cupti.subscriber, kDriverCall, id); });
    // Ranges are always on, too: a thread may enter one before recording starts.
    for (const CUpti_CallbackId id : RangeNames::callbacks())
      cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_NVTX, id);
    const auto context_ends = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
    cupti.api.enable_callback(1, cupti.subscriber, CUPTI_CB_DOMAIN_RESOURCE, context_ends);
    PythonFrames::look();
    const auto of_launches = [cupti](bool on) {
      for (const CUpti_CallbackId id : kLaunches)
        cupti.api.enable_callback(on ? 1 : 0, cupti.subscriber, kDriverCall, id);
    };
    parker_.on_watching(
        [cupti](bool on) {
          for (const CUpti_CallbackId id : kRecordCalls)
            cupti.api.enable_callback(on ? 1 : 0, cupti.subscriber, kDriverCall, id);
        },
        [=](bool on) { LaunchCallbacks::need(LaunchCallbacks::User::others_work, on, of_launches); });
    control_.on_hybrid([=](bool on) { LaunchCallbacks::need(LaunchCallbacks::User::hybrid, on, of_launches); });
    return ok();
  }

  Result<> enable(const Cupti& cupti) override {
    std::string missing;
    for (std::uint8_t i = 0; i < std::size(kWaitingCalls); ++i) {
      const WaitingCall& waiting = kWaitingCalls[i];
      if (places_.not_needed(i)) continue;
      places_.set_name(i, call_name(cupti.api, waiting.domain, waiting.id));
      const std::string what = "cuptiEnableCallback(" + places_.name(i) + ")";
      Result<> enabled =
          cupti_call(cupti.api, what, cupti.api.enable_callback(1, cupti.subscriber, waiting.domain, waiting.id));
      if (!enabled && missing.empty()) missing = enabled.error().message;
    }
    places_.set_cupti(reinterpret_cast<const void*>(cupti.api.activity_flush_all));
    if (work_ != nullptr) work_->watches_calls.store(1, std::memory_order_relaxed);
    recording_.fetch_add(1, std::memory_order_relaxed);
    subscriber_ = cupti.subscriber;
    enabled_ = &cupti.api;
    return missing.empty() ? ok() : unavailable(missing);
  }

  void disable(const Cupti& cupti) override {
    enabled_ = nullptr;
    for (const WaitingCall& call : kWaitingCalls) cupti.api.enable_callback(0, cupti.subscriber, call.domain, call.id);
  }

  bool wants_callbacks() const override { return true; }

  // Not inlined, so that its frame lies at one place of each path to it (collector/program/caller.h).
  __attribute__((noinline)) void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                          const CUpti_CallbackData& data, EventSink& sink) override {
    WaitingThread& thread = of_thread();
    if (thread.calling_driver) return tried_here(thread, id, data);
    const std::uint8_t number = number_of(domain, id);
    if (number == kNoNumber) return note(thread, domain, id, data);
    // The end of a wait in an earlier recording came without a callback.
    if (thread.wait.recording != recording_.load(std::memory_order_relaxed)) thread.wait.depth = 0;
    if (data.callbackSite == CUPTI_API_EXIT && thread.wait.depth == 0) return;  // no wait has begun
    if (kWaitingCalls[number].copy != CopyCall::none) {
      if (data.callbackSite == CUPTI_API_ENTER && !OwnCode::runs()) begins_copy(thread, number, data);
      if (!copy_waits(thread, number, data)) return;
    }
    const void* const frame = __builtin_frame_address(0);
    if (data.callbackSite == CUPTI_API_ENTER) {
      if (thread.wait.depth != 0 || !begin_known(thread, number, frame, data, sink))
        enter(thread, number, frame, data, sink);
    } else if (thread.wait.depth != 1 || thread.known == nullptr || !end_known(thread, data)) {
      leave(thread, number, data, sink);
    }
  }

  void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink&) override {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) parker_.context_ends(data.context);
  }

  void tick(EventBatch& batch) override {
    ticks_.store(true, std::memory_order_relaxed);
    parker_.tick();
    sites_.name_places(batch);
    if (const std::uint64_t modules = modules_loaded(); modules != modules_) {
      modules_ = modules;
      PythonFrames::look();
    }
    clock_.follow();
    ShortSlices::of_process().mend();
    ShortWaitsOfThreads::of_process().each([&](ShortWaits& waits) {
      waits.pass_on([&](std::span<const HostWaitEvent> events) {
        for (const HostWaitEvent& event : events) batch.write(event);
      });
    });
    const CuptiApi* const api = enabled_;
    if (api == nullptr) return;
    places_.tick([&](std::uint8_t number, bool on) {
      api->enable_callback(on ? 1 : 0, subscriber_, kWaitingCalls[number].domain, kWaitingCalls[number].id);
    });
  }

  void finish(EventSink& sink) override {
    ticks_ = false;
    sites_.name_places(sink);
    ShortWaitsOfThreads::of_process().each([&](ShortWaits& waits) { waits.pass_to(sink); });
    control_.stop();
  }

 private:
  void begins_copy(const WaitingThread& thread, std::uint8_t number, const CUpti_CallbackData& data) {
    const WaitingCall& call = kWaitingCalls[number];
    if (const auto copy = host_copy(call.domain, call.id, data.functionParams, call.default_stream()))
      parker_.begins_work(thread, copy->stream);
  }

  /// Whether a copy waits.
  __attribute__((noinline)) bool copy_waits(WaitingThread& thread, std::uint8_t number,
                                            const CUpti_CallbackData& data) const {
    LastCopy& last = thread.copy;
    if (last.correlation == data.correlationId) return last.waits;
    const WaitingCall& call = kWaitingCalls[number];
    const std::optional<HostCopy> copy = host_copy(call.domain, call.id, data.functionParams, call.default_stream());
    DriverQuestions driver(thread, noted_.captures());
    const std::optional<bool> found = copy ? waits(*copy, call.copy, thread.host_memory, driver) : false;
    if (!found) return false;  // the driver's call within that of the runtime may know more
    last = {data.correlationId, *found};
    return *found;
  }

  /// Whether the wait that begins is like one that the thread has made before, and the program's own way is in force.
  /// All that remains to do at its begin is done then.
  bool begin_known(WaitingThread& thread, std::uint8_t number, const void* frame, const CUpti_CallbackData& data,
                   EventSink& sink) {
    if (!kWaitingCalls[number].by_runtime()) return false;
    KnownWait* const known =
        thread.known_waits.find(number, frame, object_of(number, data.functionParams), data.context);
    if (known == nullptr || known->text_generation != sink.text_generation() || known->place->key != known->key ||
        control_.wanted(sites_.session_number(known->event.site)) != StrategyId::poll ||
        RangeNames::innermost() != nullptr) {
      return false;
    }
    if (!PythonFrames::none() && PythonFrames::of_process().innermost(thread.python) != known->function) return false;
    ThreadWait& wait = thread.wait;
    wait.depth = 1;
    wait.recording = recording_.load(std::memory_order_relaxed);
    wait.place = {known->event.site, known->place->waits++, known->place};
    wait.strategy = StrategyId::poll;
    wait.polls = wait.naps = 0;
    wait.forecast.reset();
    wait.learns = true;
    wait.outer = number;
    wait.number = known->call;
    wait.correlation = data.correlationId;
    wait.from = known->from;
    thread.known = known;
    thread.cpu_meter.begin(meter_place(wait.place));
    wait.begin = std::max(clock_.now(), wait.last_end);
    if (thread.shown_as == known) {
      thread.shown.begin = wait.begin;
      thread.open_call.again(wait.begin);
    } else if (work_ != nullptr) {
      show(thread, number, awaitable_of(number, data.functionParams), data);
      thread.shown_as = known;
    }
    return true;
  }

  /// The known wait ends: false where it was too long for that, or there is no room.
  bool end_known(WaitingThread& thread, const CUpti_CallbackData& data) {
    const ThreadWait& wait = thread.wait;
    const TimeNs now = std::max(clock_.now(), wait.begin);
    HostWaitEvent* const place = room(thread, now);
    if (place == nullptr) return false;
    thread.wait.depth = 0;
    thread.wait.last_end = now;
    thread.open_call.end();
    note_end(thread, data);
    *place = thread.known->event;
    place->begin_ns = wait.begin;
    place->end_ns = now;
    place->cpu_ns = thread.cpu_meter.end(wait.begin, now).cpu;
    place->iteration = wait.place.iteration;
    place->correlation = wait.correlation;
    thread.short_waits->commit();
    return true;
  }

  // The next two are functions of their own, since most callbacks need neither, and leave room in a CPU's caches then.
  __attribute__((noinline)) void enter(WaitingThread& thread, std::uint8_t number, const void* frame,
                                       const CUpti_CallbackData& data, EventSink& sink) {
    ThreadWait& wait = thread.wait;
    parker_.returned(thread);  // the last call, whose end may have come without a callback
    // The end of the outer call came without a callback, which has been disabled meanwhile.
    if (wait.depth > 0 && data.correlationId != wait.correlation && places_.ids_nest()) wait.depth = 0;
    if (wait.depth++ == 0) {
      wait.recording = recording_.load(std::memory_order_relaxed);
      wait.outer = number;
      wait.correlation = data.correlationId;
      wait.frame = frame;
      thread.known = nullptr;
      thread.shown_as = nullptr;
      begin(thread, places_.place(thread, number, frame, sink), sink);
    } else if (kWaitingCalls[wait.outer].in_driver() && places_.asked(wait.outer)) {
      places_.prove(thread, number, frame, data.correlationId);
    }
    const std::optional<Awaitable> what = awaitable_of(number, data.functionParams);
    if (work_ != nullptr) show(thread, number, what, data);
    // CUPTI hands out its copy of the arguments, which the driver reads after the callback.
    if (what)
      parker_.wait_in_place(thread, *what, {kWaitingCalls[number].id, const_cast<void*>(data.functionParams)}, sink);
  }

  __attribute__((noinline)) void leave(WaitingThread& thread, std::uint8_t number, const CUpti_CallbackData& data,
                                       EventSink& sink) {
    ThreadWait& wait = thread.wait;
    parker_.returned(thread);
    if (--wait.depth > 0 && places_.asked(wait.outer)) return;
    wait.depth = 0;
    thread.open_call.end();
    note_end(thread, data);
    end(thread, number, data, sink);
  }

  /// Writes the call to the session's table for as long as it lasts. The driver's call within a runtime's call knows
  /// what is waited for.
  __attribute__((noinline)) void show(WaitingThread& thread, std::uint8_t number, const std::optional<Awaitable>& what,
                                      const CUpti_CallbackData& data) {
    OpenCall& shown = thread.shown;
    const bool outer = thread.wait.depth == 1;
    const std::uint64_t stream = what && what->kind == Awaited::stream ? handle_of(what->stream) : 0;
    const std::uint64_t handle =
        what && what->kind == Awaited::event ? reinterpret_cast<std::uint64_t>(what->event) : 0;
    const auto context = what ? reinterpret_cast<std::uint64_t>(data.context) : 0;
    const Awaited awaited = kWaitingCalls[number].awaited;
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
  void note_end(const WaitingThread& thread, const CUpti_CallbackData& data) {
    if (!OpenKernels::any()) return;
    const Awaited awaited = thread.shown.awaited;
    const auto* const result = static_cast<const int*>(data.functionReturnValue);
    if (work_ == nullptr || (awaited != Awaited::stream && awaited != Awaited::device)) return;
    if (result != nullptr && *result != 0) return;
    OpenKernels::of_process().waited(thread.shown.stream, thread.context, awaited == Awaited::device,
                                     thread.wait.begin);
  }

  /// 0: the default stream.
  static std::uint64_t handle_of(CUstream stream) {
    return stream == CU_STREAM_LEGACY ? 0 : reinterpret_cast<std::uint64_t>(stream);
  }

  /// A call in which no thread waits.
  __attribute__((noinline)) void note(WaitingThread& thread, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                      const CUpti_CallbackData& data) {
    if (domain != kDriverCall || data.functionParams == nullptr) return;
    if (!is_launch(id)) return parker_.note(id, data);
    if (data.callbackSite != CUPTI_API_ENTER || OwnCode::runs()) return;
    parker_.begins_work(thread, stream_of_launch(id, data.functionParams));
    add_launch(thread.experienced().work, id, data.functionParams);
  }

  /// A call of ours.
  static void tried_here(const WaitingThread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (thread.tries_replacing && data.callbackSite == CUPTI_API_ENTER)
      ReplacedArguments::replace_by_nothing(id, const_cast<void*>(data.functionParams));
  }

  void begin(WaitingThread& thread, PlaceOfWait place, EventSink& sink) {
    ThreadWait& wait = thread.wait;
    control_.begin(sink);
    wait.place = place;
    wait.strategy = StrategyId::poll;
    wait.polls = wait.naps = 0;
    wait.forecast.reset();
    wait.learns = true;
    thread.cpu_meter.begin(meter_place(place));
    wait.begin = std::max(now_ns(), wait.last_end);
  }

  /// Room for the thread's wait, which has ended now, among those that are kept; nullptr: it is none of them, or there
  /// is no room.
  HostWaitEvent* room(WaitingThread& thread, TimeNs now) {
    const ThreadWait& wait = thread.wait;
    ShortWaits* const kept = thread.short_waits;
    if (now - wait.begin >= CpuMeter::kTooShortToSleep || kept == nullptr || wait.polls != 0 || wait.naps != 0 ||
        !ticks_.load(std::memory_order_relaxed)) {
      return nullptr;
    }
    return kept->place();
  }

  void end(WaitingThread& thread, std::uint8_t number, const CUpti_CallbackData& data, EventSink& sink) {
    const TimeNs now = thread.wait.last_end = std::max(now_ns(), thread.wait.begin);
    ShortWaits* const kept = thread.short_waits;
    if (kept != nullptr && kept->full()) kept->pass_to(sink);
    if (HostWaitEvent* const place = room(thread, now)) {
      write(thread, now, *place, sink);
      if (thread.known == nullptr)
        learn(thread, number, object_of(number, data.functionParams), data.context, *place, sink);
      return kept->commit();
    }
    if (kept != nullptr && !kept->empty()) kept->pass_to(sink);  // in their order
    HostWaitEvent event;
    write(thread, now, event, sink);
    sink.write_or_hold(event);
  }

  /// A wait that has just been written, for the next ones that are like it.
  void learn(WaitingThread& thread, std::uint8_t number, const void* object, const CUctx_st* context,
             const HostWaitEvent& event, EventSink& sink) {
    const ThreadWait& wait = thread.wait;
    const bool whole = wait.outer == number && kWaitingCalls[number].by_runtime() && wait.from != nullptr &&
                       wait.strategy == StrategyId::poll && wait.place.counts != nullptr && event.call != 0;
    if (!whole || RangeNames::innermost() != nullptr) return;
    const void* const* const returns = thread.caller.slot_of(number, wait.frame, wait.from);
    if (returns == nullptr) return;
    KnownWait& known = thread.known_waits.add();
    known = {number,
             wait.number,
             wait.frame,
             object,
             context,
             returns,
             wait.from,
             PythonFrames::of_process().innermost(thread.python),
             wait.place.counts,
             wait.place.counts->key,
             sink.text_generation(),
             event};
    thread.shown_as = &known;
  }

  static std::uint32_t meter_place(const PlaceOfWait& place) {
    return place.site == 0 ? 0 : place.site - WaitSites::kFirst + 1;
  }

  /// The thread's wait, which has ended now.
  void write(WaitingThread& thread, TimeNs now, HostWaitEvent& event, EventSink& sink) {
    const ThreadWait& wait = thread.wait;
    event = make_event<HostWaitEvent>();
    event.end_ns = now;
    event.begin_ns = wait.begin;
    const CpuUse use = thread.cpu_meter.end(wait.begin, event.end_ns);
    event.cpu_ns = use.cpu;
    event.involuntary_switches = use.involuntary_switches;
    event.run_delay_ns = use.run_delay;
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
    if (use.computed >= 0 && thread.experience != nullptr) {
      TimeNs& computing = thread.experience->computing;
      computing = computing < 0 ? use.computed : computing + (use.computed - computing) / kRecentComputing;
    }
    if (wait.strategy == StrategyId::hybrid) {
      Experience& known = *thread.experience;
      const bool expected = wait.way == HybridWay::polls && is_short(event.end_ns - wait.begin);
      if (!expected) known.short_waits = 0;
      if (wait.learns || !expected) known.past = PastWait{wait, event.end_ns, known.work, event.run_delay_ns};
      known.launches += known.work.launches;
      known.work = {};
    }
  }

  /// The number of the call's name, for which the sink is asked only once.
  TextId text_of(std::uint32_t number, EventSink& sink) {
    const std::uint64_t generation = std::uint64_t{sink.text_generation()} + 1;
    std::uint64_t kept = texts_[number].load(std::memory_order_relaxed);
    if (kept >> 32 == generation) return static_cast<TextId>(kept);
    const TextId id = sink.text(places_.name(static_cast<std::uint8_t>(number)));
    if (id != 0) texts_[number].store(generation << 32 | id, std::memory_order_relaxed);  // 0: the ring was full
    return id;
  }

  WaitSites sites_;
  CallPlaces places_{sites_};
  HostControl control_;
  OpenWork* const work_;
  NotedCalls noted_;
  Parker parker_{control_, sites_, noted_};
  CounterClock clock_{CounterClock::system_uses_counter()};
  std::atomic<std::uint64_t> texts_[std::size(kWaitingCalls)] = {};  // the sink's generation and one, and the number
  std::atomic<std::uint32_t> recording_{0};                          // how often recording has begun
  std::uint64_t modules_ = 0;                                        // of the thread that ticks
  std::atomic<bool> ticks_{false};                                   // waits that are kept will be passed on
  std::atomic<const CuptiApi*> enabled_{nullptr};
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace

std::unique_ptr<Source> make_host_waits(ControlBlock* control, OpenWork* work) {
  return std::make_unique<HostWaits>(control, work);
}

}  // namespace wicprof::collector
