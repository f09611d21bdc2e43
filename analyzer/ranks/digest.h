// A digest: what of a rank's trace shows who waited for whom, small enough to be read together with thousands of
// others.
#pragma once

#include <cstdint>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Of the recording; a digest has so many times the room of one hour.
std::uint64_t begun_hours(const TraceModel& model);

/// So many calls and requests of MPI a process keeps at most. A digest of an hour then has 1 MB, and the digests of
/// all ranks of a large job fit into memory together: they share a number of calls.
std::uint64_t most_calls(const TraceModel& model);

/// What the digest of a trace holds: processes, communicators, calls and requests of MPI, counters, notices, and sums
/// of waits, kernels, copies and calls (TraceModel::digest_sums). Each thread's samples become one. A digest stays as
/// it is.
///
/// Where a process has more than `most` calls and requests of MPI, the digest keeps some steps whole: what the process
/// did between two collectives that all ranks share. It keeps the longest steps, and steps drawn by their numbers; a
/// row of the latter stands for as many as were drawn from (`stands_for`). All ranks keep the same ones, since a step
/// has one number and about one length for all. Without such collectives, messages are drawn by theirs.
TraceModel digest(const TraceModel& model, std::uint64_t most);

}  // namespace wicprof::analyzer
