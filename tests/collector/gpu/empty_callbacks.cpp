// A tool without a purpose of its own: callbacks of CUPTI that do nothing, at one call. What they cost is CUPTI's part of
// what any callback costs. Named by CUDA_INJECTION64_PATH; for tests/collector/gpu/host_waits.py.
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "collector/cupti/cupti_api.h"

extern "C" int InitializeInjection() {
  using namespace wicprof::collector;
  static const wicprof::Result<CuptiApi> cupti = load_cupti({});
  static CUpti_SubscriberHandle subscriber = nullptr;
  const auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  const bool works = cupti && cupti->subscribe(&subscriber, nothing, nullptr) == CUPTI_SUCCESS &&
                     cupti->enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                            CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize) == CUPTI_SUCCESS;
  if (!works) std::fprintf(stderr, "no callbacks: %s\n", cupti ? "CUPTI refuses" : cupti.error().message.c_str());
  return 1;
}
