// Which waits wic-prof makes in a call's place, without CUPTI: the session wants `block`, the driver is made.
#include "collector/waits/parker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "protocol/control.h"
#include "tests/collector/handles.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

/// Its GPU is busy until a test says otherwise.
struct Driver {
  std::atomic<bool> busy{true};
  std::atomic<int> questions{0};
};
Driver& driver() {
  static Driver one;
  return one;
}
CUresult ask() {
  ++driver().questions;
  return driver().busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

DriverApi made_driver() {
  DriverApi api;
  api.exchange_capture_mode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  api.current_context = [](CUcontext* context) { return *context = kContext, CUDA_SUCCESS; };
  api.context_flags = [](unsigned* flags) { return *flags = CU_CTX_SCHED_SPIN, CUDA_SUCCESS; };
  api.stream_context = [](CUstream, CUcontext* context) { return *context = kContext, CUDA_SUCCESS; };
  api.stream_is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    return *status = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS;
  };
  api.stream_query = [](CUstream) { return ask(); };
  api.event_query = [](CUevent) { return ask(); };
  api.event_record = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  api.create_event = [](CUevent* event, unsigned) { return *event = reinterpret_cast<CUevent>(8), CUDA_SUCCESS; };
  api.destroy_event = [](CUevent) { return CUDA_SUCCESS; };
  return api;
}

class ParkedCalls : public testing::Test {
 protected:
  ParkedCalls() {
    driver().busy = true;
    driver().questions = 0;
    control_.host_wanted.store(WantedWait{Mode::park, StrategyId::block}.pack(), std::memory_order_relaxed);
  }
  ~ParkedCalls() override { host_control_.stop(); }

  /// The calling thread's wait, from its call's entry to its return; the GPU is idle once `meanwhile` has returned.
  template <typename Meanwhile>
  bool parks(Awaited kind, CUstream stream, const Meanwhile& meanwhile) {
    const int before = driver().questions;
    driver().busy = true;
    over_ = false;
    std::thread other([&] {
      const TimeNs until = now_ns() + 5 * kSecond;
      while (driver().questions == before && !over_ && now_ns() < until) std::this_thread::yield();
      meanwhile();
      driver().busy = false;
    });
    WaitingThread& thread = process_.threads.here();
    thread.wait = {};
    thread.wait.begin = now_ns();
    parker_.wait_in_place(thread, {kind, stream, nullptr, kContext}, {CUPTI_DRIVER_TRACE_CBID_INVALID, nullptr}, sink_);
    parker_.returned(thread);
    over_ = true;
    other.join();
    return driver().questions > before;
  }
  bool parks(Awaited kind, CUstream stream) {
    return parks(kind, stream, [] {});
  }
  /// Another thread launches into some stream of its own.
  void launch_elsewhere() {
    WaitingThread& thread = process_.threads.here();
    parker_.begins_work(thread, reinterpret_cast<CUstream>(17));
  }

  PlainRing memory_;
  EventSink sink_{memory_.ring()};
  ControlBlock control_{};
  const DriverApi api_ = made_driver();
  WaitsOfProcess& process_ = *new WaitsOfProcess(api_);  // never destroyed, as in a program
  WaitSites sites_{nullptr};
  HostControl host_control_{&control_, sites_};
  NotedCalls noted_;
  Parker parker_{process_, host_control_, sites_, noted_};
  std::atomic<bool> over_{false};
};

TEST_F(ParkedCalls, WhereNobodyElseBeginsWork) {
  EXPECT_TRUE(parks(Awaited::device, nullptr));
  EXPECT_TRUE(parks(Awaited::stream, CU_STREAM_LEGACY));
  EXPECT_TRUE(parks(Awaited::copy, kStream));
  EXPECT_TRUE(parks(Awaited::stream, kStream));
}

// The driver alone can end these calls before work that comes later, so for some seconds they are left to it.
TEST_F(ParkedCalls, AfterOthersBeganWorkOnlyWhatAnEventOfOursCanEnd) {
  EXPECT_TRUE(parks(Awaited::device, nullptr, [this] { launch_elsewhere(); }));
  EXPECT_FALSE(parks(Awaited::device, nullptr));
  EXPECT_FALSE(parks(Awaited::stream, CU_STREAM_LEGACY));
  EXPECT_FALSE(parks(Awaited::copy, kStream));
  EXPECT_TRUE(parks(Awaited::stream, kStream));
}

}  // namespace
}  // namespace wicprof::collector
