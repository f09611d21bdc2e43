// Sites whose waiters hand a word on: locks, turns, and the slots of queues.
#pragma once

#include <set>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

/// The sites in device memory at which several blocks wait for one word, one of them goes on, and that block releases
/// the next one by the same word. What such a program does per second follows from how fast the word passes from block
/// to block. A barrier's word is none: many arrive between two releases. `stats` are site_stats(model).
std::set<SiteId> handed_on_sites(const TraceModel& model, const std::vector<SiteStats>& stats);

}  // namespace wicprof::analyzer
