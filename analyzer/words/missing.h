// Why an analysis has no result, for reports.
#pragma once

namespace wicprof::analyzer::missing {

inline constexpr char kNoKernelWaits[] = "the trace holds no waits inside kernels";
inline constexpr char kNoWaitingTime[] = "no wait took any time";

// Interference.
inline constexpr char kNoPollersShown[] = "the trace holds no waits inside kernels, so it shows no pollers";
inline constexpr char kNoPollers[] = "no waiter polled";
inline constexpr char kNoWorkBesidePollers[] =
    "the trace shows no work beside pollers: no block waits twice in one kernel or signals, and no kernel runs without "
    "waits";
inline constexpr char kNoContrast[] =
    "no work ran beside both many and few pollers: record the program polling and parked "
    "(--schedule poll:2s,park:2s)";

}  // namespace wicprof::analyzer::missing
