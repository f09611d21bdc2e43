// A tool without a purpose of its own: callbacks of CUPTI that do nothing, at the calls that wait for a stream, an
// event or a device, and at their calls of the driver. What they cost is CUPTI's part of what any callback costs.
// CUDA_INJECTION64_PATH names this library.
//   EMPTY_CALLBACKS    driver, runtime, or both: which of the calls have them; none: CUPTI is loaded and has a
//                      subscriber
//   EMPTY_ACTIVITIES   set: CUPTI records kernels, too, as under wic-prof
//   EMPTY_TURNS        a file: a line per phase of 200 ms, its begin (CLOCK_MONOTONIC, ns) and 1 with callbacks, 0
//                      without; not set: the callbacks are always there
#include <cupti.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "collector/cupti/cupti_api.h"
#include "protocol/time.h"

namespace {

using namespace wicprof::collector;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

constexpr CUpti_CallbackId kDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2};
constexpr CUpti_CallbackId kRuntimeCalls[] = {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
                                              CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
                                              CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020};

void enable(std::uint32_t on, const CuptiApi& cupti, CUpti_SubscriberHandle subscriber, const std::string& calls) {
  if (calls == "driver" || calls == "both") {
    for (const CUpti_CallbackId id : kDriverCalls)
      cupti.enable_callback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  if (calls == "runtime" || calls == "both") {
    for (const CUpti_CallbackId id : kRuntimeCalls)
      cupti.enable_callback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
  }
}

void record_kernels(const CuptiApi& cupti) {
  cupti.activity_register_timestamp_callback([] { return static_cast<std::uint64_t>(wicprof::now_ns()); });
  cupti.activity_register_callbacks(
      [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
        *bytes = std::size_t{1} << 20;
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, *bytes));
        *records = 0;
      },
      [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) { std::free(buffer); });
  cupti.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

void take_turns(const CuptiApi& cupti, CUpti_SubscriberHandle subscriber, const std::string& calls,
                const std::string& file) {
  for (std::uint32_t on = 1;; on = 1 - on) {
    enable(on, cupti, subscriber, calls);
    if (std::FILE* const to = std::fopen(file.c_str(), "a")) {
      std::fprintf(to, "%lld %u\n", static_cast<long long>(wicprof::now_ns()), on);
      std::fclose(to);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace

extern "C" int InitializeInjection() {
  static const wicprof::Result<CuptiApi> cupti = load_cupti({});
  static CUpti_SubscriberHandle subscriber = nullptr;
  const auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  if (!cupti || cupti->subscribe(&subscriber, nothing, nullptr) != CUPTI_SUCCESS) return 1;
  const std::string calls = variable("EMPTY_CALLBACKS"), turns = variable("EMPTY_TURNS");
  if (!variable("EMPTY_ACTIVITIES").empty()) record_kernels(*cupti);
  enable(1, *cupti, subscriber, calls);
  if (!turns.empty()) std::thread(take_turns, std::cref(*cupti), subscriber, calls, turns).detach();
  return 1;
}
