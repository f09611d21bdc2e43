// The copies, or the migrations of managed memory, of a program without wait sites as messages: from the memory that
// they are read from to where they go.
#pragma once

#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// Empty where copies and kernels do not take turns: a program that only copies when it begins or ends does not
/// communicate by them. Only the amounts are known, not the places.
Traffic copy_traffic(const TraceModel& model);

/// The same of migrations. Their places are addresses, so that one allocation is one datum; what the driver moves along
/// of its own accord cannot be told from what was asked for, which makes the answer less sure.
Traffic migration_traffic(const TraceModel& model);

}  // namespace wicprof::analyzer
