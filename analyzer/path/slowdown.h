// How much pollers slow concurrent work, from measurements on an H200.
#pragma once

#include <optional>
#include <string>

#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

/// A ratio of times with its uncertainty: `low` and `high` span what the model's assumptions leave open.
struct Gain {
  double value = 1, low = 1, high = 1;
};

/// The time that work takes beside pollers, over the time beside the same waiters parked.
struct SlowdownRange {
  Gain by_work;      ///< value: work bound by streaming; low and high: over all kinds of work measured
  std::string from;  ///< the measurement
};

/// The slowdown beside `pollers` pollers of a word of the site; for Pollers::each_thread, polling warps per SM. Nothing
/// if no measurement covers the site; `why` then holds the reason.
std::optional<SlowdownRange> slowdown_beside(const SiteStats& site, double pollers, std::string& why);

/// Whether all waiters of a site wait on one word.
bool on_one_word(const SiteStats& site);

}  // namespace wicprof::analyzer
