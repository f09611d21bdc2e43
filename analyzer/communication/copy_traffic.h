// The copies, or the migrations of managed memory, of a program without wait sites as messages from the device that
// holds the source to the one that holds the destination.
#pragma once

#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// Empty if copies and kernels do not alternate: a program that copies only at its start and end does not communicate
/// by copies. Messages have amounts, but no places.
Traffic copy_traffic(const TraceModel& model);

/// The same for migrations. Their places are addresses, so all allocations count as one datum. The driver also migrates
/// pages in advance, which lowers Traffic::certainty.
Traffic migration_traffic(const TraceModel& model);

}  // namespace wicprof::analyzer
