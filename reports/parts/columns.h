// The columns of all tables on the screen: the head of each, and what the column shows.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace wicprof::reports {

struct Column {
  std::string_view head;
  std::string_view meaning;  ///< one sentence or two
};

namespace column {

// The first column of a table names its rows.
// wic-prof stuck.
inline constexpr Column kAddress{"address", "where the word is that the waiters poll"};
inline constexpr Column kHas{"has", "the value of that word as it was read last"};
inline constexpr Column kWants{"wants", "the value that the waiters wait for, where the wait names it"};
inline constexpr Column kWho{"who", "the blocks or host threads that wait"};
inline constexpr Column kSource{"source",
                                "where this is known from: a wait through wic, a patched loop, a host thread"};
inline constexpr Column kOpenCall{"call", "the call of CUDA that a host thread has not left yet"};
inline constexpr Column kOn{"on", "the stream, event or device for which the call waits"};
inline constexpr Column kStream{"stream", "the stream into which the program has launched the kernel"};
inline constexpr Column kLaunchedBefore{"launched before", "how long ago the program launched the kernel"};
inline constexpr Column kThreadState{"state",
                                     "what the operating system says of the thread: it runs, or where it sleeps"};

inline constexpr Column kWaitSite{"wait site", "a place in the program where threads wait; the program names it"};
inline constexpr Column kWakeLatency{
    "wake latency",
    "the time from the signal, or from the waiter's arrival if that came later, until the waiter went on"};
inline constexpr Column kWords{"words waited on",
                               "how many words in memory the waiters of a wait site look at, and how many waiters "
                               "looked at the same word at the same time"};
inline constexpr Column kWaitParts{"parts of a wait",
                                   "what the waits at a wait site consist of, for polled and parked "
                                   "waits separately"};
inline constexpr Column kWork{"work beside pollers",
                              "work that ran while other threads polled: the same work beside many pollers and "
                              "beside few"};
inline constexpr Column kPath{
    "critical path", "the chain of work, wake-ups, launches and copies that the end of the program waited for"};
inline constexpr Column kPredicted{"predicted gain of parking",
                                   "how many times as fast the program would be if the waiters at this wait site "
                                   "parked, computed from the polling that was recorded"};
inline constexpr Column kKernel{"kernel", "a GPU function, by its name in the source"};
inline constexpr Column kFilling{
    "how it fills the GPU",
    "a kernel with the launch shape that took the most time; all columns are computed from "
    "the launch, not measured"};
inline constexpr Column kPair{"kernel pair",
                              "a kernel that started when the one before it on its stream was done; all launches with "
                              "the same shapes"};
inline constexpr Column kEarlierStart{"earlier start saves",
                                      "the same pairs: time that the program would save if the second kernel did not "
                                      "wait for the whole first one; expected, and from none to the most"};
inline constexpr Column kCrowded{"kernel beside a holder of SMs",
                                 "a kernel that ran beside another one, next to whose blocks an SM has no room for its "
                                 "own"};
inline constexpr Column kHostCall{"host wait", "a call of the CUDA runtime or driver in which host threads waited"};
inline constexpr Column kLateCause{"late because", "what made a step of a host thread longer than usual"};
inline constexpr Column kDelays{"delays", "parts of steps that lasted longer than usual"};
inline constexpr Column kLateBy{"late", "time beyond the usual length, summed over the delays"};
inline constexpr Column kLateError{"error",
                                   "the most by which that time may be wrong: clocks, and other causes at once"};
inline constexpr Column kGpuIdle{"GPU idle", "the part of that time in which the GPU did nothing"};
inline constexpr Column kHostPolling{"host polling",
                                     "a call that only asks whether the GPU is done, and that a host thread repeated "
                                     "until it was"};
inline constexpr Column kWaitingStream{"waiting stream",
                                       "a stream whose next work waited for an event of another "
                                       "stream"};
inline constexpr Column kProgramCounters{
    "program counters",
    "a function in which samples found warps: the hardware notes from time to time "
    "where each warp is"};
inline constexpr Column kProcess{"process", "the number of a process of the program"};
inline constexpr Column kBetween{"between", "one of two sides that communicate: the CPU or a device"};
inline constexpr Column kSwitchedAt{"switched at", "when the way of waiting was changed, from the begin of the run"};
inline constexpr Column kSide{"side", "before or after the change, and how the program waited then"};
inline constexpr Column kSegment{"phase", "a time in which the whole program waited in one way"};
inline constexpr Column kTrace{"trace", "a recorded run, and how the program waited in it"};
inline constexpr Column kWait{"wait (p50)", "the median length of the waits at a wait site"};
inline constexpr Column kEdge{"wake latency (p50)",
                              "the median wake latency of the waiters of one device after the signals of another"};

// Numbers.
inline constexpr Column kWaits{"waits", "how many waits there were"};
inline constexpr Column kTimes{"times", "how often this happened"};
inline constexpr Column kCalls{"calls", "how many calls there were"};
inline constexpr Column kLaunches{"launches", "how often the kernel ran"};
inline constexpr Column kTotal{"total",
                               "the sum of all times in the row; waiters that wait at the same time all count"};
inline constexpr Column kShare{
    "share",
    "for a wait site: the part of its time that one waiter spends waiting there, from the first iteration to the last "
    "wait; for a kernel: the part of its device's time; for the critical path: the part of the path; for program "
    "counters: the part of the samples"};
inline constexpr Column kP50{"p50", "the median: half of the times are shorter"};
inline constexpr Column kP99{"p99", "the 99th percentile: one time in a hundred is longer"};
inline constexpr Column kMax{"max", "the longest time"};
inline constexpr Column kPolls{"polls", "how often a waiter looked at the word per wait"};
inline constexpr Column kStrategy{"strategy",
                                  "how the waiters waited: poll is the program's own way, all others are ways to park"};
inline constexpr Column kMatched{"matched", "how many waits have a known signal that ended them"};
inline constexpr Column kError{
    "clock error",
    "how far the clocks of the signal and of the waiter may be apart; a smaller latency may be "
    "zero"};
inline constexpr Column kUnmatched{"without a signal", "how many waits have no recorded signal that ended them"};
inline constexpr Column kLookedAt{"words", "how many words the waiters look at, and how many look at one at most"};
inline constexpr Column kMemory{"memory", "where the word lies: in the device's memory, in pinned host memory, ..."};
inline constexpr Column kMode{"mode",
                              "poll: the program's own way of waiting; park: the waiters leave the SM to others"};
inline constexpr Column kOfItsTime{"share of its time", "the part of its time that one waiter spends waiting here"};
inline constexpr Column kBeforeData{
    "came before its data",
    "the part of the waits in which the waiter arrived before the signal, and so had to wait "
    "for it (the WIC paper's scenario 2)"};
inline constexpr Column kUntilSignal{
    "until the signal",
    "the mean time per wait from the waiter's arrival to the signal: no way of waiting "
    "shortens it"};
inline constexpr Column kTransfer{"transfer", "the mean time of the copy that brought the data before the signal"};
inline constexpr Column kDevice{"device", "where the work ran: cuda:0 is the first GPU, simt:0 the CPU device"};
inline constexpr Column kManyPollers{"many pollers", "the mean number of pollers while the work took long"};
inline constexpr Column kFewPollers{"few pollers", "the mean number of pollers while the work was quick"};
inline constexpr Column kWhere{"where", "the device, the host thread or the wait site"};
inline constexpr Column kTimesAsFast{"times as fast", "the predicted gain, with its interval in brackets"};
inline constexpr Column kExposed{"exposed",
                                 "the part of the critical path that is work beside pollers of this wait site"};
inline constexpr Column kBreakEven{"break-even", "the shortest wait for which parking pays"};
inline constexpr Column kOccupancy{
    "occupancy", "the part of an SM's warps that the launch can fill, and in brackets what limits it"};
inline constexpr Column kBlocks{"blocks", "the thread blocks of the launch"};
inline constexpr Column kThreads{"threads", "the threads per block"};
inline constexpr Column kRegisters{"registers", "the registers per thread"};
inline constexpr Column kShared{"shared memory", "the shared memory per block"};
inline constexpr Column kWaves{"waves",
                               "how many times the blocks fill the GPU one after the other, and how full the "
                               "last wave is"};
inline constexpr Column kFirstWaves{"waves of the first",
                                    "how many times the first kernel's blocks fill the GPU one after the other; "
                                    "persistent: as many blocks on each SM, whose number of tiles is not known"};
inline constexpr Column kGapTime{"gap", "the mean time from the first kernel's end to the second one's start"};
inline constexpr Column kIdleSms{"idle SM time", "SM time without a block in the first kernel's last wave"};
inline constexpr Column kWaitingSms{"held SM time", "SM time in which a block of one of both kernels waited"};
inline constexpr Column kByTiles{
    "by tiles", "if each block of the second kernel waited for the parts that it needs (docs/tiles.md)"};
inline constexpr Column kByDependent{"by dependent launch",
                                     "if the second kernel started early and then waited for all of the first "
                                     "(programmatic dependent launch)"};
inline constexpr Column kByCarveOut{"by SMs of its own", "as by tiles, if only the second kernel used some of the SMs"};
inline constexpr Column kHeldSms{"SMs held", "the SMs that the other kernel's blocks hold, of those of the device"};
inline constexpr Column kTimeBeside{"time beside", "the kernel's mean time beside the other one"};
inline constexpr Column kTimeAlone{"time alone", "the kernel's mean time in launches beside no kernel"};
inline constexpr Column kBySpreading{"saved by spreading",
                                     "time that the program would save if the kernel's blocks were made for the SMs "
                                     "that are left: expected, and from none to the most"};
inline constexpr Column kCpuTime{"CPU time", "the time for which the waiting threads occupied a CPU"};
inline constexpr Column kHow{"how",
                             "spinning: the thread kept a CPU busy while it waited; sleeping: it did not; mixed: "
                             "some of both"};
inline constexpr Column kThread{"thread", "the host thread, by its name or number"};
inline constexpr Column kRuns{"runs", "how many times the thread polled until the GPU was done"};
inline constexpr Column kQueries{"queries", "how many times the thread asked"};
inline constexpr Column kTime{"time", "the time that the thread spent asking"};
inline constexpr Column kQueriesPerSecond{"queries/s", "how many times per second the thread asked while it polled"};
inline constexpr Column kFor{"for", "the stream that recorded the event"};
inline constexpr Column kBehind{"behind", "the kernel that the event followed"};
inline constexpr Column kIdle{"idle", "how long the stream had nothing to do because of these waits"};
inline constexpr Column kSamples{"samples", "how many times samples found a warp in the function"};
inline constexpr Column kHottestLine{"hottest line", "the source line with the most samples"};
inline constexpr Column kStalls{"warps stall on", "why the sampled warps could not go on, in the hardware's words"};
inline constexpr Column kRank{"rank", "the number of the process in its job (torchrun, MPI, Slurm)"};
inline constexpr Column kLocalRank{"local rank", "the number of the process on its machine"};
inline constexpr Column kCommand{"command", "the command line"};
inline constexpr Column kAnd{"and", "the other side"};
inline constexpr Column kForth{"forth", "messages from the first side to the second"};
inline constexpr Column kBack{"back", "messages from the second side to the first"};
inline constexpr Column kModel{"model",
                               "how both sides take turns: unidirectional, alternating, multiple, probabilistic"};
inline constexpr Column kPattern{"pattern",
                                 "where in the data the messages go: streaming, adjacent, scatter-gather, random"};
inline constexpr Column kChange{"change",
                                "from the time before to the time after: -6 % is a little less, 121 times "
                                "shorter a lot less"};
inline constexpr Column kEffect{"took effect after",
                                "the time from the request until all waiters waited in the new way"};
inline constexpr Column kFrom{"from", "when the phase began, from the begin of the comparison"};
inline constexpr Column kTo{"to", "when the phase ended, from the begin of the comparison"};
inline constexpr Column kIterations{"iterations", "how many iterations count"};
inline constexpr Column kPerIteration{"per iteration", "the median time of an iteration"};
inline constexpr Column kPhases{"phases", "how many phases count as values"};
inline constexpr Column kRunsCompared{"runs", "how many runs count as values"};
inline constexpr Column kBefore{"before", "the median before the change"};
inline constexpr Column kAfter{"after", "the median after the change"};
inline constexpr Column kVerdict{
    "verdict",
    "improvement or regression: the change is larger than the tolerance and than what varies "
    "by itself; inconclusive: more phases or runs would tell"};

// Host threads, as the scheduler's counters show them.
inline constexpr Column kSampledThread{"host thread",
                                       "a thread on the CPU; samples of the scheduler's counters show it"};
inline constexpr Column kOnCpu{"on a CPU", "the time for which the thread ran"};
inline constexpr Column kOfTheRun{"of the run", "that time as a part of the run: 100 % is one core all the time"};
inline constexpr Column kReady{"without a CPU", "the time for which the thread was ready to run but had no CPU"};

// Running sessions.
inline constexpr Column kName{"name", "the session's name, for --session"};
inline constexpr Column kPid{"pid", "the number of the program's process"};
inline constexpr Column kApp{"app", "the program's file name"};
inline constexpr Column kStarted{"started", "when the recording began, in local time"};
inline constexpr Column kEvents{"events", "how many records the trace has so far"};
inline constexpr Column kDrops{"drops", "how many records were lost so far"};
inline constexpr Column kTraceFile{"trace", "the file that the session is recorded into"};

// The bundled recordings.
inline constexpr Column kProgram{"program", "a sample program that was recorded in both modes"};
inline constexpr Column kPolled{"poll", "the median time of an iteration while the program polled"};
inline constexpr Column kParked{"park", "the median time of an iteration while the program parked"};
inline constexpr Column kSpeedUp{"speed-up", "the time polled over the time parked: above 1, parking made it faster"};

}  // namespace column

/// All columns, tables' names first; the same head may occur twice.
inline constexpr std::array kColumns{column::kWaitSite,
                                     column::kWakeLatency,
                                     column::kWords,
                                     column::kWaitParts,
                                     column::kWork,
                                     column::kPath,
                                     column::kPredicted,
                                     column::kKernel,
                                     column::kFilling,
                                     column::kPair,
                                     column::kEarlierStart,
                                     column::kCrowded,
                                     column::kHostCall,
                                     column::kLateCause,
                                     column::kDelays,
                                     column::kLateBy,
                                     column::kLateError,
                                     column::kGpuIdle,
                                     column::kHostPolling,
                                     column::kWaitingStream,
                                     column::kProgramCounters,
                                     column::kProcess,
                                     column::kBetween,
                                     column::kSwitchedAt,
                                     column::kSide,
                                     column::kSegment,
                                     column::kTrace,
                                     column::kWait,
                                     column::kEdge,
                                     column::kWaits,
                                     column::kTimes,
                                     column::kCalls,
                                     column::kLaunches,
                                     column::kTotal,
                                     column::kShare,
                                     column::kP50,
                                     column::kP99,
                                     column::kMax,
                                     column::kPolls,
                                     column::kStrategy,
                                     column::kMatched,
                                     column::kError,
                                     column::kUnmatched,
                                     column::kLookedAt,
                                     column::kMemory,
                                     column::kMode,
                                     column::kOfItsTime,
                                     column::kBeforeData,
                                     column::kUntilSignal,
                                     column::kTransfer,
                                     column::kDevice,
                                     column::kManyPollers,
                                     column::kFewPollers,
                                     column::kWhere,
                                     column::kTimesAsFast,
                                     column::kExposed,
                                     column::kBreakEven,
                                     column::kOccupancy,
                                     column::kBlocks,
                                     column::kThreads,
                                     column::kRegisters,
                                     column::kShared,
                                     column::kWaves,
                                     column::kFirstWaves,
                                     column::kGapTime,
                                     column::kIdleSms,
                                     column::kWaitingSms,
                                     column::kByTiles,
                                     column::kByDependent,
                                     column::kByCarveOut,
                                     column::kHeldSms,
                                     column::kTimeBeside,
                                     column::kTimeAlone,
                                     column::kBySpreading,
                                     column::kCpuTime,
                                     column::kHow,
                                     column::kThread,
                                     column::kRuns,
                                     column::kQueries,
                                     column::kTime,
                                     column::kQueriesPerSecond,
                                     column::kFor,
                                     column::kBehind,
                                     column::kIdle,
                                     column::kSamples,
                                     column::kHottestLine,
                                     column::kStalls,
                                     column::kRank,
                                     column::kLocalRank,
                                     column::kCommand,
                                     column::kAnd,
                                     column::kForth,
                                     column::kBack,
                                     column::kModel,
                                     column::kPattern,
                                     column::kChange,
                                     column::kEffect,
                                     column::kFrom,
                                     column::kTo,
                                     column::kIterations,
                                     column::kPerIteration,
                                     column::kPhases,
                                     column::kRunsCompared,
                                     column::kBefore,
                                     column::kAfter,
                                     column::kVerdict,
                                     column::kSampledThread,
                                     column::kOnCpu,
                                     column::kOfTheRun,
                                     column::kReady,
                                     column::kName,
                                     column::kPid,
                                     column::kApp,
                                     column::kStarted,
                                     column::kEvents,
                                     column::kDrops,
                                     column::kTraceFile,
                                     column::kProgram,
                                     column::kPolled,
                                     column::kParked,
                                     column::kSpeedUp,
                                     column::kAddress,
                                     column::kHas,
                                     column::kWants,
                                     column::kWho,
                                     column::kSource,
                                     column::kOpenCall,
                                     column::kOn,
                                     column::kStream,
                                     column::kLaunchedBefore,
                                     column::kThreadState};

/// The first row of a table. The table's name, which is its first head, begins with a capital letter.
inline std::vector<std::string> heads(std::initializer_list<Column> columns) {
  std::vector<std::string> row;
  for (const Column& each : columns) row.emplace_back(each.head);
  if (!row.empty() && !row.front().empty() && row.front().front() >= 'a' && row.front().front() <= 'z')
    row.front().front() = static_cast<char>(row.front().front() - 'a' + 'A');
  return row;
}

}  // namespace wicprof::reports
