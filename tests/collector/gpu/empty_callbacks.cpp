// A tool without a purpose of its own: callbacks of CUPTI that do nothing, at cudaStreamSynchronize and its call of the
// driver. What they cost is CUPTI's part of what any callback costs. CUDA_INJECTION64_PATH names this library.
//   EMPTY_CALLBACKS   driver, runtime, or both: which of the two calls has them
//   EMPTY_TURNS       a file: a line per phase of 200 ms, its begin (CLOCK_MONOTONIC, ns) and 1 with callbacks, 0
//   without
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

void take_turns(const CuptiApi& cupti, CUpti_SubscriberHandle subscriber, const std::string& calls,
                const std::string& file) {
  for (std::uint32_t on = 1;; on = 1 - on) {
    if (calls != "runtime")
      cupti.enable_callback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize);
    if (calls != "driver") {
      cupti.enable_callback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                            CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
    }
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
  std::thread(take_turns, std::cref(*cupti), subscriber, variable("EMPTY_CALLBACKS"), variable("EMPTY_TURNS")).detach();
  return 1;
}
