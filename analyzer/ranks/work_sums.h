// What ranks did between calls, as sums of a digest.
#pragma once

#include <map>
#include <vector>

#include "analyzer/ranks/rank_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Of all ranks in a trace, for a digest of it: between calls of MPI, and beside kernels of NCCL where it has these. Of
/// places and of kinds of kernels and copies those that take most time, so that the rows of a rank are few; a sum of
/// the kinds that are left out.
std::vector<store::DigestSumRow> work_sums(const TraceModel& model);

/// Of the time of a rank's kernels, or of its copies, the share that is in kinds which its digest keeps: the least of
/// all ranks; 1 where digests keep all.
double least_kept_kinds(const TraceModel& model);

/// `of`: work or work_of_nccl. By process; without processes whose traces are read, and those of older digests.
std::map<store::ProcessId, RankWork> work_of_digests(const TraceModel& model, store::SumOf of);

}  // namespace wicprof::analyzer
