// CUPTI with a clock around the subscriber's callback: WICPROF_CUPTI_PATH names this library. All other calls are those
// of the real CUPTI, which this library is linked to.
//   TIMED_CUPTI_OUT   the file that gets a line per callback at the program's end: domain, id, 0 at the call's entry
//   and
//                     1 at its exit, how often, and the nanoseconds within the callback without those of the clock; and
//                     a line "enable" for each change of a callback: domain, id, 0 or 1, ms since the start
// For programs whose calls come from one thread.
#include <cupti.h>
#include <dlfcn.h>
#include <x86intrin.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

#include "protocol/time.h"

namespace {

struct Sum {
  unsigned long long count = 0, ticks = 0;
};

CUpti_CallbackFunc callback = nullptr;
std::map<std::tuple<int, int, int>, Sum> sums;
std::mutex mutex;
std::FILE* out = nullptr;
const unsigned long long began_ticks = __rdtsc();
const wicprof::TimeNs began = wicprof::now_ns();

template <class Function>
Function real(const char* name) {
  static void* const library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

void write() {
  if (out == nullptr) return;
  const double ns_per_tick =
      static_cast<double>(wicprof::now_ns() - began) / static_cast<double>(__rdtsc() - began_ticks);
  unsigned long long least = ~0ull;  // of the clock itself
  for (int i = 0; i < 1000; ++i) {
    const unsigned long long begin = __rdtsc();
    const unsigned long long end = __rdtsc();
    if (end - begin < least) least = end - begin;
  }
  for (const auto& [key, sum] : sums) {
    const auto [domain, id, site] = key;
    std::fprintf(
        out, "callback %d %d %d %llu %.1f\n", domain, id, site, sum.count,
        (static_cast<double>(sum.ticks) / static_cast<double>(sum.count) - static_cast<double>(least)) * ns_per_tick);
  }
  std::fclose(out);
}

void timed(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const bool call = domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
  const int site = call ? static_cast<const CUpti_CallbackData*>(data)->callbackSite : 0;
  static std::tuple<int, int, int> last_key[2];
  static Sum* last[2] = {};
  const std::tuple<int, int, int> key{domain, id, site};
  const int at = site & 1;
  if (last[at] == nullptr || last_key[at] != key) {
    last_key[at] = key;
    last[at] = &sums[key];
  }
  Sum& sum = *last[at];
  const unsigned long long begin = __rdtsc();
  callback(user, domain, id, data);
  sum.ticks += __rdtsc() - begin;
  ++sum.count;
}

CUpti_CallbackFunc in_front_of(CUpti_CallbackFunc own) {
  callback = own;
  if (const char* const path = std::getenv("TIMED_CUPTI_OUT")) {
    out = std::fopen(path, "w");
    std::atexit(write);
  }
  return timed;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                                                                     CUpti_CallbackFunc own, void* user,
                                                                     CUpti_SubscriberParams* params) {
  return real<decltype(&cuptiSubscribe_v2)>("cuptiSubscribe_v2")(subscriber, in_front_of(own), user, params);
}

__attribute__((visibility("default"))) CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                                                  CUpti_CallbackFunc own, void* user) {
  return real<decltype(&cuptiSubscribe)>("cuptiSubscribe")(subscriber, in_front_of(own), user);
}

__attribute__((visibility("default"))) CUptiResult cuptiEnableCallback(uint32_t enable,
                                                                       CUpti_SubscriberHandle subscriber,
                                                                       CUpti_CallbackDomain domain,
                                                                       CUpti_CallbackId id) {
  const std::lock_guard lock(mutex);
  if (out != nullptr) {
    std::fprintf(out, "enable %d %d %u %.1f\n", domain, id, enable,
                 static_cast<double>(wicprof::now_ns() - began) / 1e6);
  }
  return real<decltype(&cuptiEnableCallback)>("cuptiEnableCallback")(enable, subscriber, domain, id);
}
}
