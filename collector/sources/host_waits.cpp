// Host threads that wait in a synchronizing call, including synchronous copies: CUPTI's callbacks, for the observer of
// the waits and for the parker. Callbacks rather than records, because only the waiting thread can read its CPU time,
// which separates spinning waits from sleeping ones, and its scheduling delay; and because only that thread can wait in
// the call's place, once a toggle asks for that.
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "collector/cupti/call_names.h"
#include "collector/program/loaded_module.h"
#include "collector/program/python_frames.h"
#include "collector/rewrite/own_code.h"
#include "collector/sources/list.h"
#include "collector/waits/call_places.h"
#include "collector/waits/driver_questions.h"
#include "collector/waits/host_control.h"
#include "collector/waits/host_copy.h"
#include "collector/waits/noted_calls.h"
#include "collector/waits/parker.h"
#include "collector/waits/range_names.h"
#include "collector/waits/wait_observer.h"
#include "collector/waits/wait_sites.h"
#include "collector/waits/waiting_calls.h"
#include "collector/waits/waiting_thread.h"
#include "collector/waits/watched_launches.h"

namespace wicprof::collector {

namespace {

class HostWaits final : public Source {
 public:
  HostWaits(WaitsOfProcess& waits, ControlBlock* control, OpenWork* work)
      : Source("host_waits", {}), waits_(waits), sites_(control), control_(control, sites_), work_(work) {}

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
    // Once, before the first callback: the program's threads read the names, also while recording begins anew.
    if (!std::exchange(named_, true)) {
      for (std::uint8_t i = 0; i < std::size(kWaitingCalls); ++i)
        places_.set_name(i, call_name(cupti.api, kWaitingCalls[i].domain, kWaitingCalls[i].id));
      places_.set_cupti(reinterpret_cast<const void*>(cupti.api.activity_flush_all));
    }
    std::string missing;
    for (std::uint8_t i = 0; i < std::size(kWaitingCalls); ++i) {
      const WaitingCall& waiting = kWaitingCalls[i];
      if (places_.not_needed(i)) continue;
      const std::string what = "cuptiEnableCallback(" + places_.name(i) + ")";
      Result<> enabled =
          cupti_call(cupti.api, what, cupti.api.enable_callback(1, cupti.subscriber, waiting.domain, waiting.id));
      if (!enabled && missing.empty()) missing = enabled.error().message;
    }
    if (work_ != nullptr) work_->watches_calls.store(1, std::memory_order_relaxed);
    observer_.recording_begins();
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
    WaitingThread& thread = waits_.threads.here();
    if (thread.calling_driver) return tried_here(thread, id, data);
    const std::uint8_t number = number_of(domain, id);
    if (number == kNoNumber) return note(thread, domain, id, data);
    observer_.look(thread.wait);
    const bool begins = data.callbackSite == CUPTI_API_ENTER;
    if (!begins && thread.wait.depth == 0) return;  // no wait has begun
    if (kWaitingCalls[number].copy != CopyCall::none) {
      if (begins && !OwnCode::runs()) begins_copy(thread, number, data);
      if (!copy_waits(thread, number, data)) return;
    }
    const SeenCall call{number,
                        data.functionParams,
                        data.context,
                        data.correlationId,
                        static_cast<const int*>(data.functionReturnValue),
                        __builtin_frame_address(0)};
    if (begins) {
      if (thread.wait.depth != 0 || !observer_.begin_known(thread, call, sink)) enter(thread, call, sink);
    } else if (thread.wait.depth != 1 || thread.known == nullptr || !observer_.end_known(thread, call)) {
      leave(thread, call, sink);
    }
  }

  void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink&) override {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) parker_.context_ends(data.context);
  }

  void tick(EventBatch& batch) override {
    parker_.tick();
    sites_.name_places(batch);
    if (const std::uint64_t modules = modules_loaded(); modules != modules_) {
      modules_ = modules;
      PythonFrames::look();
    }
    observer_.tick(batch);
    waits_.short_slices.mend();
    const CuptiApi* const api = enabled_;
    if (api == nullptr) return;
    places_.tick([&](std::uint8_t number, bool on) {
      api->enable_callback(on ? 1 : 0, subscriber_, kWaitingCalls[number].domain, kWaitingCalls[number].id);
    });
  }

  bool lets_go() override {
    control_.let_go();
    return !parker_.holds_calls();
  }

  void finish(EventSink& sink) override {
    sites_.name_places(sink);
    observer_.finish(sink);
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
    DriverQuestions driver(waits_.driver, thread, noted_.captures());
    const std::optional<bool> found = copy ? waits(*copy, call.copy, thread.host_memory, driver) : false;
    if (!found) return false;  // the driver's call within that of the runtime may know more
    last = {data.correlationId, *found};
    return *found;
  }

  // The next two are functions of their own, since most callbacks need neither, and leave room in a CPU's caches then.
  __attribute__((noinline)) void enter(WaitingThread& thread, const SeenCall& call, EventSink& sink) {
    parker_.returned(thread);  // the last call, whose end may have come without a callback
    control_.begin(sink);
    const std::optional<Awaitable> what = awaitable_of(call.number, call.params);
    observer_.begin(thread, call, what, sink);
    // CUPTI hands out its copy of the arguments, which the driver reads after the callback.
    if (what)
      parker_.wait_in_place(thread, *what, {kWaitingCalls[call.number].id, const_cast<void*>(call.params)}, sink);
  }

  __attribute__((noinline)) void leave(WaitingThread& thread, const SeenCall& call, EventSink& sink) {
    parker_.returned(thread);
    if (!observer_.end(thread, call)) return;
    parker_.ended(thread);
    observer_.write(thread, call, sink);
  }

  /// A call in which no thread waits.
  __attribute__((noinline)) void note(WaitingThread& thread, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                      const CUpti_CallbackData& data) {
    if (domain != kDriverCall || data.functionParams == nullptr) return;
    if (NotedCalls::shares_memory(id)) {
      const bool shared = data.callbackSite == CUPTI_API_EXIT &&
                          *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
      if (shared && work_ != nullptr) add_sharer(*work_, static_cast<std::uint32_t>(getpid()));
      return;
    }
    if (!is_launch(id)) return parker_.note(thread, id, data);
    if (data.callbackSite != CUPTI_API_ENTER || OwnCode::runs()) return;
    parker_.begins_work(thread, stream_of_launch(id, data.functionParams));
    add_launch(thread.experienced().work, id, data.functionParams);
  }

  /// A call of ours.
  static void tried_here(const WaitingThread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (thread.tries_replacing && data.callbackSite == CUPTI_API_ENTER)
      ReplacedArguments::replace_by_nothing(id, const_cast<void*>(data.functionParams));
  }

  WaitsOfProcess& waits_;
  WaitSites sites_;
  CallPlaces places_{sites_};
  HostControl control_;
  OpenWork* const work_;
  NotedCalls noted_;
  Parker parker_{waits_, control_, sites_, noted_};
  WaitObserver observer_{waits_, control_, places_, work_};
  bool named_ = false;         // of enable()
  std::uint64_t modules_ = 0;  // of the thread that ticks
  std::atomic<const CuptiApi*> enabled_{nullptr};
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace

std::unique_ptr<Source> make_host_waits(WaitsOfProcess& waits, ControlBlock* control, OpenWork* work) {
  return std::make_unique<HostWaits>(waits, control, work);
}

}  // namespace wicprof::collector
