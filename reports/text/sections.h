// Sections of the answers on the screen. Each ends with a newline, or is empty if it has nothing to say.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

std::string loss_text(const Analysis& analysis, const Screen& screen);
/// The sites with the most waiting time, with a line per strategy if a site had several.
std::string sites_text(const TraceModel& model, const Analysis& analysis, std::size_t most_sites, const Screen& screen);
std::string energy_text(const Analysis& analysis, std::size_t most, const Screen& screen);
std::string counted_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen);
std::string wakes_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen);
/// What `auto` chose at each site, and why.
std::string choices_text(const Analysis& analysis, std::size_t most_sites, const Screen& screen);
/// What is inside graphs that were recorded as a whole.
std::string graphs_text(const Analysis& analysis, std::size_t most, const Screen& screen);
/// Occupancy and waves; empty if no device's limits are known.
std::string filling_text(const Analysis& analysis, std::size_t most, const Screen& screen);
/// Kernels that could start earlier, and their waves; empty if no kernel follows another one directly.
std::string pairs_text(const Analysis& analysis, std::size_t most, const Screen& screen);
/// Why host threads, launches and kernels were late, by site and cause; empty without a delay.
std::string lateness_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen);
/// The predicted gain of parking host threads; empty without a prediction.
std::string host_gain_text(const TraceModel& model, const Analysis& analysis, const Screen& screen);
std::string classification_text(const Classification& classification, const Screen& screen);

}  // namespace wicprof::reports
