// How much of a kernel polls, by samples of its program counter: a share, without times.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/machine_code/polling_loops.h"

namespace wicprof::analyzer {

struct KernelPolling {
  double share = 0;   ///< of the kernel's samples: in loops that poll, and at the barriers behind these loops
  double behind = 0;  ///< of the kernel's samples: at the barriers alone
  std::string place;  ///< of the loop with the most samples: "poll.cu:42"
};

/// `kernel`: its name in the trace. Nothing: no sample of this kernel polls.
std::optional<KernelPolling> polling_of_kernel(const std::vector<PollingLoop>& loops, DeviceId device,
                                               std::string_view kernel);

/// The share of each kernel's time that it polls, by its samples; 0 where no sample polls. One look-up per name.
class PollingShares {
 public:
  /// `loops` must outlive it, as must the kernels that it is asked for.
  explicit PollingShares(const std::vector<PollingLoop>& loops) : loops_(loops) {}
  double of(const store::KernelRow& kernel);

 private:
  const std::vector<PollingLoop>& loops_;
  std::map<std::pair<DeviceId, std::string_view>, double> known_;
};

/// "96.3 % of its samples, at poll.cu:42 (21 % in the loop, 75.3 % at the barrier behind it)".
std::string polling_text(const KernelPolling& polling);

}  // namespace wicprof::analyzer
