// The options of c_cg and c_fe beyond the common ones.
#pragma once

#include <cstdint>
#include <vector>

#include "common/app.h"
#include "krylov/cluster_options.h"

namespace sample::krylov {

/// The options of both applications, and their values with defaults resolved by kind of device. `name`: prefix of the
/// lanes.
std::vector<AppOption> krylov_options();
struct KrylovChoice {
  double cpu_percent;
  std::uint64_t seed;
  ClusterOptions cluster;
};
KrylovChoice krylov_choice(const AppOptions& options, std::uint32_t ranks, const char* name);

/// Errors: fewer rows (or elements) than ranks, or more ranks than kMaxRanks. `what`: the noun for messages, "rows" or
/// "elements".
wic::Result<> check_ranks(std::uint32_t ranks, std::uint32_t count, const char* what);

}  // namespace sample::krylov
