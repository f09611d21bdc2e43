// One delay of a host makes the kernels of NCCL of another rank wait many times over: what such waits cost together.
#pragma once

#include <map>
#include <vector>

#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/ranks/rank_devices.h"

namespace wicprof::analyzer {

/// Sets `counted_ns` of all waits in kernels of NCCL: by how much the rank that waited is later than if no rank had
/// kept it waiting. A rank whose host runs ahead has its next kernels in the queue, and each of them waits until the
/// late host has enqueued its own. If both hosts need as long for each, these waits only repeat the first: without them
/// the rank would wait for its own host. So the waits of a rank count together at most as long as its host had enqueued
/// the kernel before the other rank came, and as its host waited itself in calls of CUDA. A wait is taken back where a
/// host of its own rank later needs as long. `waits`: in order of begin. Waits of ranks whose trace does not show when
/// the host waited count in full, as those of digests do.
void count_repeated_once(std::vector<MpiWait>& waits, const std::map<store::ProcessId, RankDevices>& devices);

}  // namespace wicprof::analyzer
