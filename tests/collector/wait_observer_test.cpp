// How the waits of host threads are recorded, without CUPTI and without a driver.
#include "collector/waits/wait_observer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collector/waits/parker.h"
#include "tests/collector/handles.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

using namespace std::chrono_literals;

const std::uint8_t kStreamWait = number_of(kDriverCall, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize);
const std::uint8_t kRuntimeStreamCall = number_of(kRuntimeCall, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);

class Observing : public testing::Test {
 protected:
  Observing() {
    for (std::uint8_t i = 0; i < std::size(kWaitingCalls); ++i) places_.set_name(i, "call " + std::to_string(i));
    observer_.recording_begins();
    observer_.look(thread_.wait);
  }
  ~Observing() override { control_.stop(); }

  SeenCall call(std::uint8_t number, std::uint32_t correlation, const int* result = nullptr) const {
    return {number, &params_, kContext, correlation, result, __builtin_frame_address(0)};
  }
  void begin(const SeenCall& call) { observer_.begin(thread_, call, awaitable_of(call.number, call.params), sink_); }
  void end(const SeenCall& call) {
    if (!observer_.end(thread_, call)) return;
    parker_.ended(thread_);
    observer_.write(thread_, call, sink_);
  }
  std::vector<HostWaitEvent> waits() const { return memory_.read().all<HostWaitEvent>(); }

  PlainRing memory_;
  EventSink sink_{memory_.ring()};
  const DriverApi no_driver_;
  WaitsOfProcess& process_ = *new WaitsOfProcess(no_driver_);  // never destroyed, as in a program
  std::unique_ptr<OpenWork> work_ = std::make_unique<OpenWork>();
  WaitSites sites_{nullptr};
  CallPlaces places_{sites_};
  HostControl control_{nullptr, sites_};
  NotedCalls noted_;
  Parker parker_{process_, control_, sites_, noted_};
  WaitObserver observer_{process_, control_, places_, work_.get()};
  WaitingThread& thread_ = process_.threads.here();
  const cuStreamSynchronize_params params_{kStream};
};

TEST_F(Observing, AWaitHasItsCallItsTimesAndWhatItTookOfTheCpu) {
  begin(call(kStreamWait, 7));
  std::this_thread::sleep_for(5ms);
  end(call(kStreamWait, 7));
  const auto events = waits();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].correlation, 7u);
  EXPECT_EQ(events[0].awaited, Awaited::stream);
  EXPECT_EQ(events[0].strategy, static_cast<std::uint8_t>(StrategyId::poll));
  EXPECT_GE(events[0].end_ns - events[0].begin_ns, 5 * kMillisecond);
  EXPECT_GE(events[0].cpu_ns, 0);
  EXPECT_LT(events[0].cpu_ns, events[0].end_ns - events[0].begin_ns);
}

TEST_F(Observing, ACallWithinACallIsPartOfItsWait) {
  begin(call(kRuntimeStreamCall, 7));
  begin(call(kStreamWait, 8));
  end(call(kStreamWait, 8));
  EXPECT_TRUE(waits().empty());
  end(call(kRuntimeStreamCall, 7));
  const auto events = waits();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].correlation, 7u);
}

TEST_F(Observing, AWaitOfAnEarlierRecordingIsForgotten) {
  begin(call(kStreamWait, 7));
  observer_.recording_begins();  // its end came without a callback
  observer_.look(thread_.wait);
  EXPECT_EQ(thread_.wait.depth, 0);
  begin(call(kStreamWait, 9));
  end(call(kStreamWait, 9));
  const auto events = waits();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].correlation, 9u);
}

TEST_F(Observing, TheSessionSeesTheCallAsLongAsItLasts) {
  const auto in_calls = [&] {
    std::vector<std::uint64_t> streams;
    for (OpenEntry<OpenCall>& entry : work_->calls) {
      const auto found = entry.pid() != 0 ? entry.read() : std::nullopt;
      if (found && found->begin != 0) streams.push_back(found->stream);
    }
    return streams;
  };
  begin(call(kStreamWait, 7));
  EXPECT_EQ(in_calls(), std::vector<std::uint64_t>{reinterpret_cast<std::uint64_t>(kStream)});
  end(call(kStreamWait, 7));
  EXPECT_TRUE(in_calls().empty());
}

TEST_F(Observing, KernelsBeforeAWaitHaveEndedWithItUnlessItFailed) {
  process_.open_kernels.attach(work_.get());
  const auto open_kernels = [&] {
    int count = 0;
    for (OpenEntry<OpenKernel>& entry : work_->kernels) count += entry.pid() != 0;
    return count;
  };
  OpenKernel kernel{};
  kernel.stream = reinterpret_cast<std::uint64_t>(kStream);
  kernel.context = reinterpret_cast<std::uint64_t>(kContext);
  kernel.launched = now_ns();
  process_.open_kernels.launched(kernel);
  for (const int result : {700, 0}) {
    EXPECT_EQ(open_kernels(), 1);
    begin(call(kStreamWait, 7));
    end(call(kStreamWait, 7, &result));
  }
  EXPECT_EQ(open_kernels(), 0);
}

TEST_F(Observing, ShortWaitsAreKeptUntilTheNextTickAndNoneIsLost) {
  constexpr std::uint32_t kWaits = 3 * ShortWaits::kRoom;
  {
    EventBatch batch(sink_);
    observer_.tick(batch);
  }
  for (std::uint32_t i = 1; i <= kWaits; ++i) {
    const SeenCall one = call(kStreamWait, i);
    const bool known = observer_.begin_known(thread_, one, sink_);
    if (!known) begin(one);
    if (!known || !observer_.end_known(thread_, one)) end(one);
  }
  observer_.finish(sink_);
  const auto events = waits();
  ASSERT_EQ(events.size(), kWaits);
  for (std::uint32_t i = 0; i < kWaits; ++i) EXPECT_EQ(events[i].correlation, i + 1);
}

TEST_F(Observing, HybridLearnsFromAWaitOnceAndKeepsWhatComesBetween) {
  Experience& known = thread_.experienced();
  known.work.launches = 3;
  begin(call(kStreamWait, 7));
  thread_.wait.strategy = StrategyId::hybrid;
  end(call(kStreamWait, 7));
  ASSERT_TRUE(known.past);
  EXPECT_EQ(known.past->wait.correlation, 7u);
  EXPECT_EQ(known.past->work.launches, 3u);
  EXPECT_EQ(known.work.launches, 0u);
  EXPECT_EQ(known.launches, 3u);
  known.past.reset();
  begin(call(kStreamWait, 8));  // the program's own way
  end(call(kStreamWait, 8));
  EXPECT_FALSE(known.past);
}

}  // namespace
}  // namespace wicprof::collector
