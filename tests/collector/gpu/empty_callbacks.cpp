// A tool without a purpose of its own: callbacks of CUPTI that do nothing, at the calls that wait for a stream, an
// event or a device, and at their calls of the driver. What they cost is CUPTI's part of what any callback costs.
// CUDA_INJECTION64_PATH names this library.
//   EMPTY_CALLBACKS    a comma list: driver, runtime (both: these two), copies, events, memory, captures, launches,
//                      nvtx, contexts: which calls have them; none: CUPTI is loaded and has a subscriber
//   EMPTY_PERIOD_MS    cuptiActivityFlushPeriod with this period
//   EMPTY_FLUSH_MS     a thread of the tool calls cuptiActivityFlushAll(0) with this period
//   EMPTY_ACTIVITIES   CUPTI records, too, as under wic-prof: kernels (also for any other word), or a comma list of
//                      kernels, runtime, driver, copies, syncs, events, overhead, graphs; no_runtime_launches and
//                      no_driver_launches leave out the launches among the calls
//   EMPTY_CLOCK        cupti: CUPTI's own times, without a callback
//   EMPTY_TURNS        a file: a line per phase of 200 ms, its begin (CLOCK_MONOTONIC, ns) and 1 with callbacks, 0
//                      without; not set: the callbacks are always there
#include <cupti.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/program/environment.h"
#include "collector/waits/host_memory.h"
#include "collector/waits/open_captures.h"
#include "collector/waits/range_names.h"
#include "collector/waits/watched_launches.h"
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
constexpr CUpti_CallbackId kCopies[] = {
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,   CUPTI_DRIVER_TRACE_CBID_cuMemcpy};
constexpr CUpti_CallbackId kEvents[] = {CUPTI_DRIVER_TRACE_CBID_cuEventCreate,
                                        CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2};
constexpr CUpti_CallbackId kContexts[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED};

void enable(std::uint32_t on, const CuptiApi& cupti, CUpti_SubscriberHandle subscriber, const std::string& calls) {
  const std::vector<std::string> words = split_list(calls);
  const auto enable_all = [&](std::initializer_list<const char*> names, CUpti_CallbackDomain domain, const auto& ids) {
    for (const char* const name : names) {
      if (std::find(words.begin(), words.end(), name) == words.end()) continue;
      for (const CUpti_CallbackId id : ids) cupti.enable_callback(on, subscriber, domain, id);
    }
  };
  enable_all({"driver", "both"}, CUPTI_CB_DOMAIN_DRIVER_API, kDriverCalls);
  enable_all({"runtime", "both"}, CUPTI_CB_DOMAIN_RUNTIME_API, kRuntimeCalls);
  enable_all({"copies"}, CUPTI_CB_DOMAIN_DRIVER_API, kCopies);
  enable_all({"events"}, CUPTI_CB_DOMAIN_DRIVER_API, kEvents);
  enable_all({"memory"}, CUPTI_CB_DOMAIN_DRIVER_API, kHostMemoryCalls);
  enable_all({"captures"}, CUPTI_CB_DOMAIN_DRIVER_API, kCaptureCalls);
  enable_all({"launches"}, CUPTI_CB_DOMAIN_DRIVER_API, kLaunches);
  enable_all({"nvtx"}, CUPTI_CB_DOMAIN_NVTX, RangeNames::callbacks());
  enable_all({"contexts"}, CUPTI_CB_DOMAIN_RESOURCE, kContexts);
}

void flush(const CuptiApi& cupti, std::chrono::milliseconds period) {
  for (;;) {
    std::this_thread::sleep_for(period);
    cupti.activity_flush_all(0);
  }
}

void record(const CuptiApi& cupti, const std::vector<std::string>& words) {
  const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (variable("EMPTY_CLOCK") != "cupti") {
    cupti.activity_register_timestamp_callback([] { return static_cast<std::uint64_t>(wicprof::now_ns()); });
  }
  cupti.activity_register_callbacks(
      [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
        *bytes = std::size_t{1} << 20;
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, *bytes));
        *records = 0;
      },
      [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) { std::free(buffer); });
  constexpr std::pair<std::string_view, CUpti_ActivityKind> kKinds[] = {
      {"kernels", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
      {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME},
      {"driver", CUPTI_ACTIVITY_KIND_DRIVER},
      {"copies", CUPTI_ACTIVITY_KIND_MEMCPY},
      {"syncs", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
      {"events", CUPTI_ACTIVITY_KIND_CUDA_EVENT},
      {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},
      {"graphs", CUPTI_ACTIVITY_KIND_GRAPH_TRACE}};
  bool any = false;
  for (const auto& [word, kind] : kKinds) {
    if (!has(word)) continue;
    any = true;
    cupti.activity_enable(kind);
  }
  if (!any) cupti.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (has("no_runtime_launches")) {
    for (const CUpti_CallbackId id :
         {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
          CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000}) {
      cupti.activity_enable_runtime_api(id, 0);
    }
  }
  if (has("no_driver_launches")) {
    for (const CUpti_CallbackId id : kLaunches) cupti.activity_enable_driver_api(id, 0);
  }
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
  if (const std::string activities = variable("EMPTY_ACTIVITIES"); !activities.empty())
    record(*cupti, split_list(activities));
  enable(1, *cupti, subscriber, calls);
  if (const int period = std::atoi(variable("EMPTY_PERIOD_MS").c_str()); period > 0) {
    cupti->activity_flush_period(static_cast<std::uint32_t>(period));
  }
  if (const int period = std::atoi(variable("EMPTY_FLUSH_MS").c_str()); period > 0) {
    std::thread(flush, std::cref(*cupti), std::chrono::milliseconds(period)).detach();
  }
  if (!turns.empty()) std::thread(take_turns, std::cref(*cupti), subscriber, calls, turns).detach();
  return 1;
}
