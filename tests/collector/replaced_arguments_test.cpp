#include "collector/waits/replaced_arguments.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "collector/waits/noted_calls.h"
#include "collector/waits/waiting_thread.h"
#include "tests/collector/of_process.h"

namespace wicprof::collector {
namespace {

const auto kCallContext = reinterpret_cast<CUcontext>(7);
const auto kIdle = reinterpret_cast<CUstream>(8);
const auto kReady = reinterpret_cast<CUevent>(9);
constexpr auto kSynchronize = CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize;
constexpr auto kEventCall = CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize;
constexpr auto kDeviceCall = CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2;

bool takes = true;  // the driver reads its arguments after the callback
int calls = 0;

/// A call of the driver, with CUPTI's callback at its entry.
template <class Argument>
CUresult call(CUpti_CallbackId id, Argument argument) {
  ++calls;
  Argument params = argument;
  if (of_process().threads.here().tries_replacing) ReplacedArguments::replace_by_nothing(id, &params);
  return (takes ? params : argument) == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

DriverApi driver_of_arguments() {
  DriverApi api;
  api.current_context = [](CUcontext* context) {
    *context = kCallContext;
    return CUDA_SUCCESS;
  };
  api.set_context = [](CUcontext) { return CUDA_SUCCESS; };
  api.create_stream = [](CUstream* stream, unsigned) {
    *stream = kIdle;
    return CUDA_SUCCESS;
  };
  api.create_event = [](CUevent* event, unsigned) {
    *event = kReady;
    return CUDA_SUCCESS;
  };
  api.stream_synchronize = [](CUstream stream) { return call(kSynchronize, stream); };
  api.event_synchronize = [](CUevent event) { return call(kEventCall, event); };
  return api;
}

class Replacing : public testing::Test {
 protected:
  void SetUp() override {
    takes = true;
    calls = 0;
  }
  DriverApi api_ = driver_of_arguments();
  OwnHandles handles_{api_};
  ErrorListeners listeners_;
  ReplacedArguments replaced_{api_, handles_, of_process().threads, listeners_};
};

TEST_F(Replacing, ACallGetsSomethingIdleInPlaceOfItsArgument) {
  ASSERT_TRUE(replaced_.taken(kSynchronize, kCallContext));
  cuStreamSynchronize_params of_stream{reinterpret_cast<CUstream>(70)};
  EXPECT_TRUE(replaced_.replace(kSynchronize, &of_stream, kCallContext));
  EXPECT_EQ(of_stream.hStream, kIdle);
  ASSERT_TRUE(replaced_.taken(kEventCall, kCallContext));
  cuEventSynchronize_params of_event{reinterpret_cast<CUevent>(71)};
  EXPECT_TRUE(replaced_.replace(kEventCall, &of_event, kCallContext));
  EXPECT_EQ(of_event.hEvent, kReady);
  EXPECT_EQ(calls, 4);  // each tried once, with and without
  EXPECT_TRUE(replaced_.taken(kSynchronize, kCallContext));
  EXPECT_EQ(calls, 4);
}

TEST_F(Replacing, ADriverThatReadsItsArgumentsBeforeTheCallbackIsLeftAlone) {
  takes = false;
  EXPECT_FALSE(replaced_.taken(kSynchronize, kCallContext));
  EXPECT_FALSE(replaced_.taken(kEventCall, kCallContext));
}

TEST_F(Replacing, NothingFailsOnPurposeWhereTheProgramListensToErrors) {
  NotedCalls noted;
  ReplacedArguments replaced(api_, handles_, of_process().threads, noted.listeners());
  bool enabled = false;
  NotedCalls::each([&](CUpti_CallbackId id) { enabled |= id == CUPTI_DRIVER_TRACE_CBID_cuLogsRegisterCallback; });
  EXPECT_TRUE(enabled);
  noted.note(CUPTI_DRIVER_TRACE_CBID_cuLogsRegisterCallback, CUpti_CallbackData{});
  EXPECT_FALSE(replaced.taken(kSynchronize, kCallContext));
  EXPECT_EQ(calls, 0);
}

TEST_F(Replacing, NothingFailsOnPurposeWhereTheDriverLogsErrors) {
  setenv("CUDA_LOG_FILE", "stderr", 1);
  const ErrorListeners listeners;
  unsetenv("CUDA_LOG_FILE");
  ReplacedArguments replaced(api_, handles_, of_process().threads, listeners);
  EXPECT_FALSE(replaced.taken(kEventCall, kCallContext));
  EXPECT_EQ(calls, 0);
}

TEST_F(Replacing, ACallWithoutSuchAnArgumentIsLeftAlone) {
  EXPECT_FALSE(replaced_.taken(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, kCallContext));
  EXPECT_FALSE(replaced_.taken(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, kCallContext));
  EXPECT_FALSE(replaced_.taken(kDeviceCall, kCallContext));
  cuCtxSynchronize_v2_params params{kCallContext};
  EXPECT_FALSE(replaced_.replace(kDeviceCall, &params, kCallContext));
  EXPECT_EQ(params.ctx, kCallContext);
}

}  // namespace
}  // namespace wicprof::collector
