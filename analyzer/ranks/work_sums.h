// What ranks did between calls, as sums of a digest.
#pragma once

#include <map>
#include <vector>

#include "analyzer/ranks/rank_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Of all ranks in a trace, for a digest of it: between calls of MPI, and beside kernels of NCCL where it has these. Of
/// places those that take most time, so that the rows of a rank are few.
std::vector<store::DigestSumRow> work_sums(const TraceModel& model);

/// `of`: work or work_of_nccl. By process; without processes whose traces are read, and those of older digests.
std::map<store::ProcessId, RankWork> work_of_digests(const TraceModel& model, store::SumOf of);

}  // namespace wicprof::analyzer
