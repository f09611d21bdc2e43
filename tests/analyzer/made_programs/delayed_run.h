// Runs of a program that launches a kernel and waits for it, step by step, with delays of known causes, drawn from
// seeds. Simulates the thread, its CPU and the GPU; knows nothing of the analysis that is to name the delays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/path/lateness.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::made_programs {

enum class Injected { host_sleep, slow_kernel, late_launch, late_completion, quota, co_runner, steal };
inline constexpr int kInjected = 7;
std::string injected_name(Injected kind);

struct TrueDelay {
  analyzer::LateCause cause = analyzer::LateCause::kernel;
  TimeNs begin = 0, end = 0;
  TimeNs late = 0;     ///< what it adds to its step
  bool large = false;  ///< large enough that it has to be named
};

struct DelayedRun {
  analyzer::TraceModel model;
  Injected kind = Injected::host_sleep;
  bool spins = true;    ///< else the thread sleeps in its waits
  bool hidden = false;  ///< the trace does not tell whether there is a quota
  std::vector<TrueDelay> delays;
};

DelayedRun make_delayed_run(std::uint64_t seed);

/// How the analysis names a run's delays.
struct Named {
  std::uint64_t delays = 0, right = 0, unnamed = 0, wrong = 0;
  std::uint64_t surely_wrong = 0;  ///< answers that claim to be sure, also about steps without a delay
  Named& operator+=(const Named& other);
};
Named judge(const DelayedRun& run);

}  // namespace wicprof::made_programs
