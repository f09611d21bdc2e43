// What digests say in sums, over all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// "kernel", "host wait", ...
std::string_view sum_of_name(store::SumOf of);

/// The sums of one kind and name.
struct DigestTotal {
  store::SumOf of = store::SumOf::kernel;
  std::string name;  ///< of the site, call or kernel; empty: of all, or of those without a sum of their own
  std::uint64_t rows = 0;
  TimeNs total_ns = 0;
  TimeNs p50_ns = 0, max_ns = 0;  ///< of the processes' totals; 0 counts for those without such rows
  store::ProcessId most = 0;      ///< the process that has the largest
};

/// By kind, the largest first; without calls of MPI, which have figures of their own, and without those that take no
/// time. Empty for what is no digest.
std::vector<DigestTotal> digest_totals(const TraceModel& model);

}  // namespace wicprof::analyzer
