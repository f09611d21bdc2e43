// Thresholds that several rules share. Not calibrated.
#pragma once

#include <cstddef>

namespace wicprof::analyzer {

/// Share of the time that the rule looks at: what takes less is too short to notice.
inline constexpr double kWorthNaming = 0.01;
/// Share of that time from which on a finding is a warning. A comparison of two runs counts 2 % as a change.
inline constexpr double kWarning = 0.05;
/// A finding names the worst threads and counts the others: on a crowded machine every thread lacks a CPU.
inline constexpr std::size_t kNamed = 3;

}  // namespace wicprof::analyzer
