// What a recorded application shows about parking, in three sentences.
#pragma once

#include <string>

#include "analyzer/analysis.h"
#include "reports/text/screen.h"

namespace wicprof::cli {

/// The effect of parking on an application, from the comparison that knows it best.
struct MeasuredEffect {
  double value = 1, low = 1, high = 1;  ///< time polled / time parked, with its interval
  std::string verdict;
  TimeNs poll_ns = 0, park_ns = 0;  ///< of an iteration
  bool in_turn = false;             ///< one run with both modes in turn; otherwise one run each
  std::string devices;              ///< on which it was measured, for people; empty: unknown
};

/// "with both modes in turn in one run on NVIDIA H200, an iteration takes 42.6 us polled and ...: no change."
std::string effect_text(const MeasuredEffect& effect);

/// "1.004", "84.8": speed-ups near 1 differ in their later digits.
std::string speed_up_text(double ratio);

/// The site with the most waiting inside kernels; nullptr without one.
const analyzer::SiteStats* main_site(const analyzer::Analysis& analysis);

/// Whether the analysis of the polled run says that parking gains nothing at its main site.
bool expects_no_gain(const analyzer::Analysis& polled);

/// Who waits, what that does, and what parking changes. All figures come from the arguments. Each sentence begins a
/// line. Empty if no kernel waits.
std::string parking_story(const analyzer::TraceModel& model, const analyzer::Analysis& polled,
                          const analyzer::Analysis& parked, const MeasuredEffect& effect,
                          const reports::Screen& screen);

}  // namespace wicprof::cli
