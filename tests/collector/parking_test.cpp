#include "collector/waits/parking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collector/waits/driver_scopes.h"
#include "collector/waits/plain_events.h"
#include "tests/collector/handles.h"

namespace wicprof::collector {
namespace {

const auto kOwn = reinterpret_cast<CUcontext>(7), kOther = reinterpret_cast<CUcontext>(77);
const auto kStreamOfOther = reinterpret_cast<CUstream>(78);

const auto kPlain = reinterpret_cast<CUevent>(17);  // the program's

// A driver with streams whose work ends at times on a clock that moves when somebody asks or sleeps. Who asks may be
// fed more work meanwhile.
struct Gpu {
  TimeNs now = 0;
  std::map<CUstream, TimeNs> ends;
  std::map<CUevent, TimeNs> recorded;  // when an event will be reached
  TimeNs fed = 0;                      // at each question and sleep, every stream gets so much more work
  unsigned flags = CU_CTX_SCHED_AUTO;
  unsigned other_flags = CU_CTX_SCHED_AUTO;  // of the context that is not the thread's own
  std::vector<CUcontext> current{kOwn};      // a stack
  CUsynchronizationPolicy policy = CU_SYNC_POLICY_AUTO;
  CUresult capturing_result = CUDA_SUCCESS;
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult error = CUDA_SUCCESS;  // of a query, in place of its answer
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::vector<CUstream> asked, recorded_in;
  int asked_in_global_mode = 0, made_events = 0, made_streams = 0;
  TimeNs synchronized_at = -1;  // when the driver was left to wait

  void feed() {
    for (auto& [stream, end] : ends) end += fed;
  }
  CUresult answer(TimeNs end) {
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++asked_in_global_mode;
    now += 1'000;
    feed();
    return error != CUDA_SUCCESS ? error : now >= end ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  }
};
Gpu gpu;

DriverApi fake_driver() {
  DriverApi api;
  api.stream_query = [](CUstream stream) {
    gpu.asked.push_back(stream);
    return gpu.answer(gpu.ends[stream]);
  };
  api.event_query = [](CUevent event) { return gpu.answer(gpu.recorded[event]); };
  api.event_record = [](CUevent event, CUstream stream) {
    gpu.recorded_in.push_back(stream);
    gpu.recorded[event] = gpu.ends[stream];
    return CUDA_SUCCESS;
  };
  api.event_synchronize = [](CUevent event) {
    gpu.synchronized_at = gpu.now;
    gpu.now = std::max(gpu.now, gpu.recorded[event]);
    return gpu.error;
  };
  api.stream_wait_event = [](CUstream stream, CUevent event, unsigned) {
    gpu.ends[stream] = std::max(gpu.ends[stream], gpu.recorded[event]);
    return CUDA_SUCCESS;
  };
  api.create_stream = [](CUstream* stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(1000 + ++gpu.made_streams));
    return CUDA_SUCCESS;
  };
  api.destroy_stream = [](CUstream stream) {
    gpu.ends.erase(stream);
    return CUDA_SUCCESS;
  };
  api.stream_is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = gpu.capturing;
    return gpu.capturing_result;
  };
  api.stream_get_attribute = [](CUstream, CUstreamAttrID, CUstreamAttrValue* value) {
    value->syncPolicy = gpu.policy;
    return CUDA_SUCCESS;
  };
  api.exchange_capture_mode = [](CUstreamCaptureMode* mode) {
    std::swap(*mode, gpu.mode);
    return CUDA_SUCCESS;
  };
  api.context_flags = [](unsigned* flags) {
    *flags = gpu.current.back() == kOther ? gpu.other_flags : gpu.flags;
    return CUDA_SUCCESS;
  };
  api.current_context = [](CUcontext* context) {
    *context = gpu.current.back();
    return CUDA_SUCCESS;
  };
  api.stream_context = [](CUstream stream, CUcontext* context) {
    *context = stream == kStreamOfOther ? kOther : gpu.current.back();
    return CUDA_SUCCESS;
  };
  api.push_context = [](CUcontext context) {
    gpu.current.push_back(context);
    return CUDA_SUCCESS;
  };
  api.pop_context = [](CUcontext* context) {
    *context = gpu.current.back();
    gpu.current.pop_back();
    return CUDA_SUCCESS;
  };
  api.create_event = [](CUevent* event, unsigned) {
    *event = reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(2000 + ++gpu.made_events));
    return CUDA_SUCCESS;
  };
  return api;
}

class Here final : public Waiting {
 public:
  explicit Here(StrategyId strategy) : strategy_(strategy) {}
  StrategyId wanted() override {
    if (switch_at_ != 0 && gpu.now >= switch_at_) strategy_ = then_;
    return strategy_;
  }
  void sleep(TimeNs time) override {
    longest_ = std::max(longest_, time);
    const TimeNs until = gpu.now + time;
    // A toggle wakes the sleeper.
    gpu.now = switch_at_ > gpu.now && switch_at_ < until ? switch_at_ : until + 5'000;
    gpu.feed();
    if (asleep_) asleep_();
  }
  bool gives_way() override { return gives_way_; }
  void give_way() { gives_way_ = true; }
  void pause() override { gpu.now += 1'000; }
  void leaves() override {}
  TimeNs now() override { return gpu.now; }
  void while_asleep(std::function<void()> work) { asleep_ = std::move(work); }
  void switch_at(TimeNs time, StrategyId then) {
    switch_at_ = time;
    then_ = then;
  }
  TimeNs longest() const { return longest_; }

 private:
  StrategyId strategy_, then_ = StrategyId::poll;
  TimeNs switch_at_ = 0, longest_ = 0;
  std::function<void()> asleep_;
  bool gives_way_ = false;
};

class Parking : public testing::Test {
 protected:
  void SetUp() override {
    gpu = {};
    gpu.ends[kStream] = kWork;
  }
  static constexpr TimeNs kWork = 5'000'000;

  Parked wait(StrategyId strategy) {
    here_.emplace(strategy);
    return wait_here(strategy);
  }
  Parked wait_here(StrategyId strategy) {
    const RelaxedCapture relaxed(api_);
    Snapshot snapshot(tools_, what_);
    if (!snapshot) return {};
    return park(
        snapshot, strategy,
        [&](StrategyId of) {
          return plan_of(of, forecast_, {5'000, 10'000});
        },
        *here_, 0);
  }

  DriverApi api_ = fake_driver();
  OpenCaptures captures_;
  OwnHandles handles_{api_};
  AwaitedEvents events_{api_, handles_};
  ParkTools tools_{api_, captures_, handles_, events_};
  Awaitable what_{Awaited::stream, kStream};
  std::optional<Forecast> forecast_;
  std::optional<Here> here_;
};

constexpr StrategyId kAll[] = {StrategyId::spin, StrategyId::block, StrategyId::hybrid};

TEST_F(Parking, EachStrategyWaitsUntilTheWorkIsDone) {
  for (const StrategyId strategy : kAll) {
    SetUp();
    const Parked parked = wait(strategy);
    EXPECT_TRUE(parked.done) << strategy_name(strategy);
    EXPECT_GE(gpu.now, kWork);
    EXPECT_LT(gpu.now, kWork + 100'000);
    EXPECT_EQ(parked.naps == 0, strategy == StrategyId::spin);
    EXPECT_EQ(gpu.asked_in_global_mode, 0);              // a capture on another thread goes on
    EXPECT_EQ(gpu.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);  // the thread's own mode is back
    EXPECT_LE(here_->longest(), kMillisecond);
  }
}

TEST_F(Parking, OneEventServesWaitAfterWait) {
  for (int i = 0; i < 3; ++i) wait(StrategyId::block);
  EXPECT_EQ(gpu.made_events, 1);
}

TEST_F(Parking, WorkThatComesLaterIsNotWaitedFor) {
  const Awaitable each[] = {{Awaited::stream, kStream}, {Awaited::copy, kStream}};
  for (const Awaitable& what : each) {
    for (const StrategyId strategy : kAll) {
      SetUp();
      gpu.ends[CU_STREAM_LEGACY] = kWork;
      gpu.fed = 1'000'000;
      what_ = what;
      EXPECT_TRUE(wait(strategy).done);
      EXPECT_GE(gpu.now, kWork);
      EXPECT_LT(gpu.now, kWork + gpu.fed + 100'000) << strategy_name(strategy);  // what came before the snapshot
    }
  }
}

TEST_F(Parking, TheDefaultStreamTakesNoWorkOfOurs) {
  // It would have later work of other streams wait for what is in front of it.
  what_ = {Awaited::stream, CU_STREAM_LEGACY};
  gpu.ends[CU_STREAM_LEGACY] = kWork;
  gpu.ends[kStream] = 1000 * kSecond;  // no work that the call would wait for
  for (const StrategyId strategy : kAll) {
    gpu.now = 0;
    EXPECT_TRUE(wait(strategy).done);
    EXPECT_LT(gpu.now, kWork + 100'000) << strategy_name(strategy);
  }
  forecast_ = Forecast{kWork, 10'000, kWork - 20'000, 100};
  gpu.now = 0;
  EXPECT_FALSE(wait(StrategyId::hybrid).done);  // the rest is the call's
  EXPECT_LT(gpu.now, kWork);
  EXPECT_TRUE(gpu.recorded_in.empty());
  EXPECT_EQ(gpu.made_events, 0);
}

TEST_F(Parking, AnEventIsWaitedForAsItWas) {
  what_ = {Awaited::event, nullptr, kPlain};
  for (const StrategyId strategy : {StrategyId::block, StrategyId::hybrid}) {
    SetUp();
    gpu.recorded[kPlain] = kWork;
    here_.emplace(strategy);
    bool changed = false;
    here_->while_asleep([&] {
      if (changed) return;
      changed = true;
      events_.changes(kPlain);
      gpu.recorded[kPlain] = 1000 * kSecond;
    });
    EXPECT_TRUE(wait_here(strategy).done);
    EXPECT_TRUE(changed);
    EXPECT_GE(gpu.now, kWork);
    EXPECT_LT(gpu.now, kWork + 100'000) << strategy_name(strategy);
  }
  EXPECT_EQ(gpu.ends.size(), 1u);  // the stream of ours is gone
  events_.changes(kPlain);         // nobody waits
  EXPECT_EQ(gpu.ends.size(), 1u);
}

TEST_F(Parking, RecordingsAreWatchedWhileEventsAreWaitedFor) {
  int watched = 0;
  events_.on_watching([&](bool on) { watched += on ? 1 : 0; });
  wait(StrategyId::block);
  EXPECT_EQ(watched, 0);
  EXPECT_FALSE(events_.idle());
  what_ = {Awaited::event, nullptr, kPlain};
  for (int i = 0; i < 2; ++i) {
    gpu.recorded[kPlain] = gpu.now + kWork;
    wait(StrategyId::block);
  }
  EXPECT_EQ(watched, 1);
  EXPECT_FALSE(events_.idle());
  {
    const AwaitedEvents::Wait lasts(events_, kPlain, kOwn);
    EXPECT_FALSE(events_.idle());
    EXPECT_FALSE(events_.idle());  // also where it has begun long ago
  }
  EXPECT_TRUE(events_.idle());
  events_.stop_watching();
  gpu.recorded[kPlain] = gpu.now + kWork;
  wait(StrategyId::block);
  EXPECT_EQ(watched, 2);
}

TEST_F(Parking, AKnownWaitSleepsAndThenBelongsToTheDriver) {
  forecast_ = Forecast{kWork, 10'000, kWork - 20'000, 100};
  const Parked parked = wait(StrategyId::hybrid);
  EXPECT_TRUE(parked.done);
  EXPECT_GT(parked.naps, 10u);  // the last two milliseconds in short ones, so that the CPU stays awake
  EXPECT_LT(parked.naps, 25u);
  EXPECT_EQ(parked.polls, 0u);
  EXPECT_LT(gpu.synchronized_at, kWork);
  EXPECT_GT(gpu.synchronized_at, kWork - 200'000);
}

TEST_F(Parking, AToggleTakesEffectWithinAMillisecondInTheMiddleOfAWait) {
  gpu.ends[kStream] = 10 * kSecond;
  for (const StrategyId strategy : kAll) {
    gpu.now = 0;
    here_.emplace(strategy);
    here_->switch_at(kSecond, StrategyId::poll);
    forecast_ = Forecast{10 * kSecond, 0, 10 * kSecond, 100};
    EXPECT_TRUE(wait_here(strategy).done);
    EXPECT_LE(gpu.synchronized_at, kSecond + kMillisecond) << strategy_name(strategy);
  }
  gpu.now = 0;
  gpu.ends[kStream] = 2 * kSecond;
  here_.emplace(StrategyId::spin);
  here_->switch_at(kSecond, StrategyId::block);
  EXPECT_GT(wait_here(StrategyId::spin).naps, 0u);  // from one strategy to another
}

TEST_F(Parking, AnErrorBelongsToTheCall) {
  for (const CUresult error : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_INVALID_HANDLE}) {
    gpu.error = error;
    const Parked parked = wait(StrategyId::block);
    EXPECT_FALSE(parked.done);
    EXPECT_EQ(parked.polls, 1u);
  }
}

TEST_F(Parking, ADeviceIsAskedByItsDefaultStreamAndItsCallWaitsForTheRest) {
  what_ = {Awaited::device};
  gpu.ends[CU_STREAM_LEGACY] = kWork;
  for (const StrategyId strategy : kAll) {
    SetUp();
    gpu.ends[CU_STREAM_LEGACY] = kWork;
    what_ = {Awaited::device};
    EXPECT_TRUE(wait(strategy).done);
    EXPECT_GE(gpu.now, kWork);
  }
  EXPECT_EQ(gpu.made_events, 0);
}

TEST_F(Parking, NothingIsAskedWhileACaptureIsOpen) {
  constexpr auto kBeginCapture = CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2;
  constexpr auto kEnd = CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture;
  captures_.called(kBeginCapture);
  EXPECT_FALSE(may_park(tools_, what_));
  EXPECT_FALSE(Snapshot(tools_, what_));
  captures_.returned(kBeginCapture, CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_TRUE(may_park(tools_, what_));
  captures_.called(kBeginCapture);
  captures_.returned(kBeginCapture, CUDA_SUCCESS);
  EXPECT_TRUE(captures_.any());
  EXPECT_TRUE(gpu.recorded_in.empty());
  captures_.called(kEnd);
  captures_.returned(kEnd, CUDA_SUCCESS);
  EXPECT_FALSE(captures_.any());
  // It begins while a thread waits for the default stream.
  what_ = {Awaited::stream, CU_STREAM_LEGACY};
  gpu.ends[CU_STREAM_LEGACY] = kWork;
  here_.emplace(StrategyId::block);
  std::size_t asked = 0;
  here_->while_asleep([&] {
    captures_.called(kBeginCapture);
    asked = gpu.asked.size();
    here_->give_way();
  });
  EXPECT_FALSE(wait_here(StrategyId::block).done);  // the call goes on
  EXPECT_EQ(gpu.asked.size(), asked);
}

TEST_F(Parking, HandlesEndWithTheirContext) {
  EXPECT_TRUE(wait(StrategyId::block).done);
  OwnHandles::Event in_use = handles_.event(kOwn);
  handles_.context_ends(kOwn);
  const CUevent before = in_use.get();
  in_use = {};
  EXPECT_NE(handles_.event(kOwn).get(), before);
  EXPECT_EQ(gpu.made_events, 2);
}

TEST_F(Parking, WhatTheProgramAskedForStaysAsItIs) {
  EXPECT_TRUE(may_park(tools_, what_));
  gpu.flags = CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST;
  EXPECT_FALSE(may_park(tools_, what_));
  EXPECT_FALSE(may_park(tools_, {Awaited::device}));
  EXPECT_TRUE(may_park(tools_, {Awaited::event}));  // an event spins unless its own flag says otherwise
  gpu.flags = CU_CTX_SCHED_SPIN;
  EXPECT_TRUE(may_park(tools_, what_));
  gpu.policy = CU_SYNC_POLICY_BLOCKING_SYNC;
  EXPECT_FALSE(may_park(tools_, what_));
  gpu.policy = CU_SYNC_POLICY_AUTO;
  gpu.capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_FALSE(may_park(tools_, what_));
  gpu.capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  gpu.capturing_result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;  // the default stream beside a capture
  EXPECT_FALSE(may_park(tools_, what_));
  EXPECT_TRUE(gpu.asked.empty());
}

TEST_F(Parking, TheContextOfTheWorkDecides) {
  const std::vector<CUcontext> before = gpu.current;
  const Awaitable of_own_stream{Awaited::stream, CU_STREAM_LEGACY}, of_other_stream{Awaited::stream, kStreamOfOther},
      of_other_device{Awaited::device, nullptr, nullptr, kOther};
  for (const Awaitable& what : {of_own_stream, of_other_stream, of_other_device}) EXPECT_TRUE(may_park(tools_, what));
  gpu.other_flags = CU_CTX_SCHED_BLOCKING_SYNC;
  EXPECT_TRUE(may_park(tools_, of_own_stream));
  EXPECT_FALSE(may_park(tools_, of_other_stream));
  EXPECT_FALSE(may_park(tools_, of_other_device));
  gpu.other_flags = CU_CTX_SCHED_AUTO;
  gpu.flags = CU_CTX_SCHED_BLOCKING_SYNC;
  EXPECT_FALSE(may_park(tools_, of_own_stream));
  EXPECT_TRUE(may_park(tools_, of_other_stream));
  EXPECT_TRUE(may_park(tools_, of_other_device));
  EXPECT_EQ(gpu.current, before);  // the thread's contexts are as the program left them
  // A driver that does not tell.
  api_.push_context = [](CUcontext) { return CUDA_ERROR_INVALID_CONTEXT; };
  EXPECT_FALSE(may_park(tools_, of_other_stream));
  api_.stream_context = nullptr;
  EXPECT_FALSE(may_park(tools_, of_other_stream));
}

TEST_F(Parking, EventsThatBlockOrAreUnknownAreNotPlain) {
  PlainEvents events;
  const auto event = reinterpret_cast<CUevent>(16);
  EXPECT_FALSE(events.contains(event));
  events.created(event, CU_EVENT_DISABLE_TIMING);
  EXPECT_TRUE(events.contains(event));
  events.removed(event);
  EXPECT_FALSE(events.contains(event));
  events.created(event, CU_EVENT_DISABLE_TIMING);
  events.created(event, CU_EVENT_BLOCKING_SYNC);  // the address is used again
  EXPECT_FALSE(events.contains(event));
}

}  // namespace
}  // namespace wicprof::collector
