#include "analyzer/rules/line_cost.h"

#include <algorithm>

namespace wicprof::analyzer {
namespace {

constexpr char kFewWaiters[] = "a few waiters on one line do not slow concurrent work";

LineJudgement judge_host_word(std::uint32_t waiters) {
  const std::string measured =
      "528 waiters that poll one word in pinned host memory slow concurrent memory streaming by "
      "more than a factor of 100";
  if (waiters >= kHostWordWaitersCritical) return {LineCost::severe, measured};
  if (waiters >= kHostWordWaiters) return {LineCost::noticeable, measured};
  return {LineCost::none, kFewWaiters};
}

LineJudgement judge_polling_warps(double warps_per_sm) {
  const std::string measured =
      "48 warps per SM whose threads all poll one word slow concurrent memory streaming 1.6 times "
      "and L2-bound work 4.65 times";
  if (warps_per_sm >= kPollingWarpsPerSmCritical) return {LineCost::severe, measured};
  if (warps_per_sm >= kPollingWarpsPerSm) return {LineCost::noticeable, measured};
  return {LineCost::none, kFewWaiters};
}

}  // namespace

LineJudgement judge_line(const SiteStats& site, std::uint32_t waiters) {
  if (site.pollers == Pollers::each_thread && site.words == 1 && site.word_memory != WordMemory::pinned_host) {
    return judge_polling_warps(static_cast<double>(waiters) / std::max<std::uint32_t>(site.sms, 1));
  }
  if (site.words != 1) {
    return {LineCost::none, "waiters with one cache line each do not slow concurrent work"};
  }
  // Managed memory may reside on the host. Its cost is not measured, so this assumes the worse case.
  if (site.word_memory == WordMemory::pinned_host || site.word_memory == WordMemory::managed)
    return judge_host_word(waiters);
  if (waiters >= kDeviceWordLeaders) {
    return {LineCost::noticeable, "2,096 waiters on one word in device memory slow L2-bound work 1.04 times"};
  }
  return {LineCost::none,
          "about 500 waiters with one polling thread each cost nothing on one word in device "
          "memory"};
}

}  // namespace wicprof::analyzer
