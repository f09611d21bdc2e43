// Several traces of one job, such as a trace for each rank, as one model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "protocol/result.h"

namespace wicprof::analyzer {

/// Whether the traces hold ranks of one job: whether communicators of MPI connect them.
bool are_of_one_job(const std::vector<TraceModel>& traces);

/// What join() refuses: two traces are of different jobs, or hold one rank twice, or one has no calls of MPI. Names the
/// traces.
std::optional<Error> why_not_one_job(const std::vector<TraceModel>& traces);

/// One model with all rows: processes, devices and sites have numbers of their own, and all times are on the clock of
/// the trace with the lowest rank. The order of the traces does not matter. Errors: why_not_one_job()'s.
Result<TraceModel> join(std::vector<TraceModel> traces);

/// The ranks of the job whose calls of MPI the model does not have, as far as its communicators show.
std::vector<std::int32_t> missing_ranks(const TraceModel& model);

}  // namespace wicprof::analyzer
