// What the ranks of a job wait for, as dumps of PyTorch's Flight Recorder show it.
#pragma once

#include "analyzer/stuck/mpi_ranks.h"

namespace wicprof::analyzer {

/// A rank waits in the calls that have started and are not complete; where its dump knows no starts, in the first one.
/// Such a call waits for the members that have not come to it. Who lacks what others have completed waits for nobody.
/// The view, which has one dump of a rank at most, must outlive the job.
MpiJob dumped_job(const StuckView& view);

}  // namespace wicprof::analyzer
