// The options of c_cg and c_fe beside the common ones, and what they come to.
#pragma once

#include <cstdint>
#include <vector>

#include "common/app.h"
#include "krylov/cluster_options.h"

namespace sample::krylov {

/// The options of both applications, and what they mean. The defaults of the CPU's share of the rows and of its threads
/// go by the kind of device.
std::vector<AppOption> krylov_options();
struct KrylovChoice {
  double cpu_percent;
  std::uint64_t seed;
  ClusterOptions cluster;
};
KrylovChoice krylov_choice(const AppOptions& options, std::uint32_t ranks, const char* name);

/// Errors: fewer rows (or elements) than ranks, or more ranks than kMaxRanks. `what`: "rows".
wicprof::Result<> check_ranks(std::uint32_t ranks, std::uint32_t count, const char* what);

}  // namespace sample::krylov
