// Which strategy "auto" means at a site.
#pragma once

#include "protocol/strategy.h"
#include "wic/runtime.h"

namespace wic {

/// From what was measured on an H200: many readers of one word are what hurts (up to 9.5x on streaming neighbours), so one
/// watcher reads it for all; warps that poll thread by thread take turns from those that compute, so they stand at a
/// barrier behind a leader; and one poller a block on a line of its own costs nothing, so it goes on polling.
inline wicprof::StrategyId automatic_strategy(const SiteSpec& site) {
  if (site.shared_word) return wicprof::StrategyId::shared_watch;
  if (site.pollers == wicprof::Pollers::each_thread) return wicprof::StrategyId::leader_bar_sync;
  return wicprof::StrategyId::poll;
}

}  // namespace wic
