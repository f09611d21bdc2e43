// What a run knows at one moment, for its metrics.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/metrics/autopilot_facts.h"
#include "protocol/strategy.h"
#include "protocol/time.h"
#include "store/write/recorder.h"
#include "store/write/wait_tally.h"

namespace wicprof::cli {

struct MetricFacts {
  std::string session, app;
  Mode device_mode = Mode::poll, host_mode = Mode::poll;  ///< as `sessions` shows them
  std::vector<store::WaitSumOfSite> waits;
  std::vector<store::RankSum> ranks;
  std::array<std::uint64_t, 2> changes{};  ///< of the mode, by the new one
  AutopilotFacts autopilot;
  store::RecorderProgress progress;
  std::map<store::Stat, std::uint64_t> losses;
  std::uint64_t trace_bytes = 0;
  /// By CPU quotas; nothing: not known.
  std::optional<std::uint64_t> throttled_periods, throttled_ns;
  TimeNs recorder_cpu = 0;                        ///< of wic-prof run
  std::optional<std::uint64_t> collector_cpu_ns;  ///< of wic-prof's threads in the program; nothing: not known
};

}  // namespace wicprof::cli
