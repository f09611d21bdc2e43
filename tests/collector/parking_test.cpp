#include "collector/waits/parking.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "collector/waits/plain_events.h"

namespace wicprof::collector {
namespace {

const auto kOwn = reinterpret_cast<CUcontext>(7), kOther = reinterpret_cast<CUcontext>(77);
const auto kStreamOfOther = reinterpret_cast<CUstream>(78);

// A driver whose only work ends at a time on a clock that moves when somebody asks or sleeps.
struct Gpu {
  TimeNs now = 0, ends = 0;
  unsigned flags = CU_CTX_SCHED_AUTO;
  unsigned other_flags = CU_CTX_SCHED_AUTO;  // of the context that is not the thread's own
  std::vector<CUcontext> current{kOwn};      // a stack
  CUsynchronizationPolicy policy = CU_SYNC_POLICY_AUTO;
  CUresult capturing_result = CUDA_SUCCESS;
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult error = CUDA_SUCCESS;  // of a query, in place of its answer
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::vector<CUstream> asked;
  int asked_in_global_mode = 0, events = 0;

  CUresult answer() {
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++asked_in_global_mode;
    now += 1'000;
    return error != CUDA_SUCCESS ? error : now >= ends ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  }
};
Gpu gpu;

DriverApi fake_driver() {
  DriverApi api;
  api.stream_query = [](CUstream stream) {
    gpu.asked.push_back(stream);
    return gpu.answer();
  };
  api.event_query = [](CUevent) { return gpu.answer(); };
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
    *event = reinterpret_cast<CUevent>(8);
    ++gpu.events;
    return CUDA_SUCCESS;
  };
  api.destroy_event = [](CUevent) {
    --gpu.events;
    return CUDA_SUCCESS;
  };
  api.record_context = [](CUcontext, CUevent) { return CUDA_SUCCESS; };
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
  }
  TimeNs now() override { return gpu.now; }
  void switch_at(TimeNs time, StrategyId then) {
    switch_at_ = time;
    then_ = then;
  }
  TimeNs longest() const { return longest_; }

 private:
  StrategyId strategy_, then_ = StrategyId::poll;
  TimeNs switch_at_ = 0, longest_ = 0;
};

class Parking : public testing::Test {
 protected:
  void SetUp() override {
    gpu = {};
    gpu.ends = 5'000'000;
  }
  Parked wait(StrategyId strategy) {
    here_.emplace(strategy);
    return wait_here(strategy);
  }
  Parked wait_here(StrategyId strategy) {
    return park(
        api_, what_, strategy,
        [&](StrategyId of) {
          return plan_of(of, forecast_, {5'000, 10'000});
        },
        *here_, 0);
  }

  DriverApi api_ = fake_driver();
  Awaitable what_{Awaited::stream, CU_STREAM_PER_THREAD};
  std::optional<Forecast> forecast_;
  std::optional<Here> here_;
};

TEST_F(Parking, EachStrategyWaitsUntilTheWorkIsDone) {
  for (const StrategyId strategy : {StrategyId::spin, StrategyId::block, StrategyId::hybrid}) {
    SetUp();
    const Parked parked = wait(strategy);
    EXPECT_TRUE(parked.done) << strategy_name(strategy);
    EXPECT_GE(gpu.now, gpu.ends);
    EXPECT_LT(gpu.now, gpu.ends + 100'000);
    EXPECT_EQ(parked.naps == 0, strategy == StrategyId::spin);
    EXPECT_EQ(gpu.asked.front(), CU_STREAM_PER_THREAD);
    EXPECT_EQ(gpu.asked_in_global_mode, 0);              // a capture on another thread goes on
    EXPECT_EQ(gpu.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);  // the thread's own mode is back
    EXPECT_LE(here_->longest(), kMillisecond);
  }
}

TEST_F(Parking, AKnownWaitSleepsAndThenBelongsToTheCall) {
  forecast_ = Forecast{5'000'000, 10'000, 4'980'000, 100};
  const Parked parked = wait(StrategyId::hybrid);
  EXPECT_FALSE(parked.done);
  EXPECT_GT(parked.naps, 10u);  // the last two milliseconds in short ones, so that the CPU stays awake
  EXPECT_LT(parked.naps, 25u);
  EXPECT_EQ(parked.polls, 0u);
  EXPECT_LT(gpu.now, gpu.ends);
  EXPECT_GT(gpu.now, 4'800'000);
}

TEST_F(Parking, AToggleTakesEffectWithinAMillisecondInTheMiddleOfAWait) {
  gpu.ends = 10 * kSecond;
  for (const StrategyId strategy : {StrategyId::spin, StrategyId::block, StrategyId::hybrid}) {
    gpu.now = 0;
    here_.emplace(strategy);
    here_->switch_at(kSecond, StrategyId::poll);
    forecast_ = Forecast{10 * kSecond, 0, 10 * kSecond, 100};
    EXPECT_FALSE(wait_here(strategy).done);
    EXPECT_LE(gpu.now, kSecond + kMillisecond) << strategy_name(strategy);
  }
  gpu.now = 0;
  gpu.ends = 2 * kSecond;
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

TEST_F(Parking, ADeviceIsAskedThroughAnEventThatIsGoneAfterwards) {
  what_ = {Awaited::device};
  EXPECT_TRUE(wait(StrategyId::block).done);
  EXPECT_EQ(gpu.events, 0);
  // An older driver has nothing to ask: hybrid sleeps for the safe part, block leaves the wait alone.
  api_.record_context = nullptr;
  gpu.now = 0;
  EXPECT_FALSE(wait(StrategyId::block).done);
  EXPECT_EQ(gpu.now, 0);
  forecast_ = Forecast{5'000'000, 300'000, 4'000'000, 100};
  EXPECT_FALSE(wait(StrategyId::hybrid).done);
  EXPECT_GT(gpu.now, 3'000'000);
  EXPECT_LT(gpu.now, gpu.ends);
}

TEST_F(Parking, WhatTheProgramAskedForStaysAsItIs) {
  EXPECT_TRUE(may_park(api_, what_));
  gpu.flags = CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST;
  EXPECT_FALSE(may_park(api_, what_));
  EXPECT_FALSE(may_park(api_, {Awaited::device}));
  EXPECT_TRUE(may_park(api_, {Awaited::event}));  // an event spins unless its own flag says otherwise
  gpu.flags = CU_CTX_SCHED_SPIN;
  EXPECT_TRUE(may_park(api_, what_));
  gpu.policy = CU_SYNC_POLICY_BLOCKING_SYNC;
  EXPECT_FALSE(may_park(api_, what_));
  gpu.policy = CU_SYNC_POLICY_AUTO;
  gpu.capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_FALSE(may_park(api_, what_));
  gpu.capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  gpu.capturing_result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;  // the default stream beside a capture
  EXPECT_FALSE(may_park(api_, what_));
  EXPECT_TRUE(gpu.asked.empty());
}

TEST_F(Parking, TheContextOfTheWorkDecides) {
  const std::vector<CUcontext> before = gpu.current;
  const Awaitable of_own_stream{Awaited::stream, CU_STREAM_LEGACY}, of_other_stream{Awaited::stream, kStreamOfOther},
      of_other_device{Awaited::device, nullptr, nullptr, kOther};
  for (const Awaitable& what : {of_own_stream, of_other_stream, of_other_device}) EXPECT_TRUE(may_park(api_, what));
  gpu.other_flags = CU_CTX_SCHED_BLOCKING_SYNC;
  EXPECT_TRUE(may_park(api_, of_own_stream));
  EXPECT_FALSE(may_park(api_, of_other_stream));
  EXPECT_FALSE(may_park(api_, of_other_device));
  gpu.other_flags = CU_CTX_SCHED_AUTO;
  gpu.flags = CU_CTX_SCHED_BLOCKING_SYNC;
  EXPECT_FALSE(may_park(api_, of_own_stream));
  EXPECT_TRUE(may_park(api_, of_other_stream));
  EXPECT_TRUE(may_park(api_, of_other_device));
  EXPECT_EQ(gpu.current, before);  // the thread's contexts are as the program left them
  // A driver that does not tell.
  api_.push_context = [](CUcontext) { return CUDA_ERROR_INVALID_CONTEXT; };
  EXPECT_FALSE(may_park(api_, of_other_stream));
  api_.stream_context = nullptr;
  EXPECT_FALSE(may_park(api_, of_other_stream));
}

TEST_F(Parking, EventsThatBlockOrAreUnknownAreNotPlain) {
  PlainEvents events;
  const auto event = reinterpret_cast<CUevent>(16);
  EXPECT_FALSE(events.contains(event));
  events.created(event, CU_EVENT_DISABLE_TIMING);
  EXPECT_TRUE(events.contains(event));
  events.destroyed(event);
  EXPECT_FALSE(events.contains(event));
  events.created(event, CU_EVENT_DISABLE_TIMING);
  events.created(event, CU_EVENT_BLOCKING_SYNC);  // the address is used again
  EXPECT_FALSE(events.contains(event));
}

}  // namespace
}  // namespace wicprof::collector
