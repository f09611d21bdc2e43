#include "analyzer/rules/line_cost.h"

#include <algorithm>

namespace wicprof::analyzer {
namespace {

LineJudgement judge_host_word(std::uint32_t waiters) {
  const std::string measured =
      "measured on an H200: 528 waiters that poll one word in pinned host memory slow memory streaming beside them by "
      "more than a factor of 100 (docs/results: hot_flag, interference)";
  if (waiters >= kHostWordWaitersCritical) return {LineCost::severe, measured};
  if (waiters >= kHostWordWaiters) return {LineCost::noticeable, measured};
  return {LineCost::none, "measured on an H200: a few waiters on one line cost the work beside them nothing"};
}

LineJudgement judge_polling_warps(double warps_per_sm) {
  const std::string measured =
      "measured on an H200: 48 warps an SM whose threads all poll one word slow memory streaming beside them 1.6 "
      "times, and "
      "work bound by the L2 cache 4.65 times";
  if (warps_per_sm >= kPollingWarpsPerSmCritical) return {LineCost::severe, measured};
  if (warps_per_sm >= kPollingWarpsPerSm) return {LineCost::noticeable, measured};
  return {LineCost::none, "measured on an H200: a few waiters on one line cost the work beside them nothing"};
}

}  // namespace

LineJudgement judge_line(const SiteStats& site, std::uint32_t waiters) {
  if (site.pollers == Pollers::each_thread && site.words == 1 && site.word_memory != WordMemory::pinned_host) {
    return judge_polling_warps(static_cast<double>(waiters) / std::max<std::uint32_t>(site.sms, 1));
  }
  if (site.words != 1) {
    return {LineCost::none,
            "measured on an H200: waiters on a line of their own each cost the work beside them nothing"};
  }
  // Managed memory may lie on the host; what it costs is not measured, so the worse case is assumed.
  if (site.word_memory == WordMemory::pinned_host || site.word_memory == WordMemory::managed)
    return judge_host_word(waiters);
  if (waiters >= kDeviceWordLeaders) {
    return {LineCost::noticeable,
            "measured on an H200: 2,096 waiters on one word in device memory slow L2-bound work 1.04 times"};
  }
  return {LineCost::none,
          "measured on an H200: some 500 waiters, one polling thread each, on one word in device memory cost nothing"};
}

}  // namespace wicprof::analyzer
