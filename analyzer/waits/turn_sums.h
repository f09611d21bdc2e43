// Which devices others have by turns, as sums of a digest.
#pragma once

#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/interrupted_kernels.h"

namespace wicprof::analyzer {

/// What interrupted_kernels() finds in a trace, for a digest of it: of each process the contexts that lose most, and
/// its other devices, so that a digest shows that nothing was found there.
std::vector<store::DigestSumRow> turn_sums(const TraceModel& model);

/// What turn_sums() kept in the digests of the model.
std::vector<InterruptedKernels> turns_of_digests(const TraceModel& model);

/// Whether a digest of the model has kernels, but no turn_sums(): a digest of an earlier wic-prof.
bool lacks_turns(const TraceModel& model);

/// Where digests are read, a trace does not show who had the device in its turns if that one is in another trace, or
/// in a digest. Names the processes that ran kernels there for half of the time.
void suppose_others(const TraceModel& model, std::vector<InterruptedKernels>& all);

}  // namespace wicprof::analyzer
