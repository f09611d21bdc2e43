// What threads of the program share while they wait in wic-prof. Under ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "collector/waits/awaited_events.h"
#include "collector/waits/open_captures.h"
#include "collector/waits/others_work.h"

namespace wicprof::collector {
namespace {

const auto kContext = reinterpret_cast<CUcontext>(7);
const auto kAwaited = reinterpret_cast<CUevent>(8);
constexpr int kTurns = 300;

/// Events that are reached at once or never.
struct Driver {
  std::mutex mutex;
  std::map<CUevent, bool> reached;
  std::uintptr_t handles = 1000;
  std::atomic<int> streams{0};
};
Driver& driver() {
  static Driver one;
  return one;
}

DriverApi fake_driver() {
  DriverApi api;
  api.exchange_capture_mode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  api.current_context = [](CUcontext* context) { return *context = kContext, CUDA_SUCCESS; };
  api.create_event = [](CUevent* event, unsigned) {
    const std::lock_guard lock(driver().mutex);
    *event = reinterpret_cast<CUevent>(++driver().handles);
    return CUDA_SUCCESS;
  };
  api.create_stream = [](CUstream* stream, unsigned) {
    ++driver().streams;
    return *stream = reinterpret_cast<CUstream>(9), CUDA_SUCCESS;
  };
  api.destroy_stream = [](CUstream) { return --driver().streams, CUDA_SUCCESS; };
  api.stream_wait_event = [](CUstream, CUevent, unsigned) { return CUDA_SUCCESS; };
  api.event_record = [](CUevent event, CUstream) {
    const std::lock_guard lock(driver().mutex);
    driver().reached[event] = true;
    return CUDA_SUCCESS;
  };
  api.event_query = [](CUevent event) {
    const std::lock_guard lock(driver().mutex);
    return driver().reached[event] ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  return api;
}

TEST(WaitsThreads, EachWaitForAnEventEndsWithTheRecordThatItFound) {
  const DriverApi api = fake_driver();
  OwnHandles handles(api);
  AwaitedEvents events(api, handles);
  std::atomic<int> waiting{0}, ended{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        AwaitedEvents::Wait wait(events, kAwaited, kContext);  // never reached, until the event is recorded anew
        ++waiting;
        while (wait.query() != CUDA_SUCCESS) std::this_thread::yield();
        EXPECT_NE(wait.instead(), nullptr);
        --waiting;
        ++ended;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      if (waiting > 0) events.changes(kAwaited);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 3; ++i) threads[static_cast<std::size_t>(i)].join();
  stop = true;
  threads.back().join();
  EXPECT_EQ(ended, 3 * kTurns);
  EXPECT_EQ(driver().streams, 0);
}

// A thread begins to wait while the callbacks are being disabled, which takes CUPTI a while.
TEST(WaitsThreads, RecordingsAreWatchedForAWaitThatBeginsAsTheWatchingEnds) {
  const DriverApi api = fake_driver();
  OwnHandles handles(api);
  AwaitedEvents events(api, handles);
  std::atomic<bool> watched{false};
  std::optional<AwaitedEvents::Wait> wait;
  std::thread waits;
  events.on_watching([&](bool on) {
    if (!on && !wait) {
      waits = std::thread([&] { wait.emplace(events, kAwaited, kContext); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    watched = on;
  });
  { const AwaitedEvents::Wait one(events, kAwaited, kContext); }
  EXPECT_FALSE(events.idle());
  EXPECT_TRUE(events.idle());
  events.stop_watching();
  ASSERT_TRUE(waits.joinable());
  waits.join();
  EXPECT_TRUE(watched);
  EXPECT_FALSE(events.idle());
  events.stop_watching();  // somebody waits
  EXPECT_TRUE(watched);
}

TEST(WaitsThreads, CapturesAndQuestionsTakeTurns) {
  OpenCaptures captures;
  std::atomic<int> asked{0};
  std::atomic<bool> stop{false};
  std::thread asks([&] {
    while (!stop) {
      const OpenCaptures::Pause pause(captures);
      asked += pause ? 1 : 0;
    }
  });
  for (int turn = 0; turn < kTurns; ++turn) {
    captures.called(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
    captures.returned(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUDA_SUCCESS);
    EXPECT_FALSE(OpenCaptures::Pause(captures));
    captures.called(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
    captures.returned(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUDA_SUCCESS);
  }
  while (asked == 0) std::this_thread::yield();
  stop = true;
  asks.join();
  EXPECT_FALSE(captures.any());
}

TEST(WaitsThreads, WhoeverBeginsWorkFindsAllWhoWait) {
  OthersWork others;
  std::atomic<bool> stop{false};
  std::atomic<int> interrupted{0};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < kTurns / 10; ++turn) {
        OthersWork::Wait wait(others, i, Whose::everybodys);
        wait.give_way();
        while (!wait.interrupted()) std::this_thread::yield();
        ++interrupted;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) others.begins(9, CU_STREAM_LEGACY);
  });
  for (int i = 0; i < 3; ++i) threads[static_cast<std::size_t>(i)].join();
  stop = true;
  threads.back().join();
  EXPECT_EQ(interrupted, 3 * (kTurns / 10));
  EXPECT_FALSE(others.quiet());
}

}  // namespace
}  // namespace wicprof::collector
