// The columns of all tables: the head of each, and what the column shows.
#pragma once

#include <string_view>

namespace wicprof::reports {

struct Column {
  std::string_view head;
  std::string_view meaning;  ///< one sentence or two
};

/// Columns that name the rows of a table come first; the same head may occur twice.
inline constexpr Column kColumns[] = {
    {"wait site", "a place in the program where threads wait; the program names it"},
    {"wake latency",
     "the time from the signal, or from the waiter's arrival if that came later, until the waiter went on"},
    {"words waited on",
     "how many words in memory the waiters of a wait site look at, and how many waiters looked at the same word at "
     "the same time"},
    {"counted at",
     "a wait site in a patched loop, where the GPU counts the waits, most of which are too short to be recorded"},
    {"counted",
     "the waits that did not find their word at the first look, estimated from a sample, with the standard error "
     "behind "
     "+-; where too few waits were sampled for that, how many there are at least; lanes of a warp that wait together "
     "count once"},
    {"of 20 us or more", "those of the counted waits that lasted at least 20 us; each is counted"},
    {"recorded", "the waits at this site that the trace has one by one: most of those of at least 20 us"},
    {"sample",
     "the shorter waits that their number is estimated from: those that began in some windows of 1 us, 1 in 256, "
     "chosen as if at random"},
    {"estimated rounds",
     "how often a shorter wait looked at its word, the mean of waits that were timed, an eighth as many as the sample"},
    {"estimated mean",
     "how long a shorter wait lasted from its first look to its last, the mean of the waits that were timed"},
    {"estimated time", "the estimated mean times the number of the shorter waits, summed over all waiters"},
    {"parts of a wait", "what the waits at a wait site consist of, for polled and parked waits separately"},
    {"work beside pollers",
     "work that ran while other threads polled: the same work beside many pollers and beside few"},
    {"critical path", "the chain of work, wake-ups, launches and copies that the end of the program waited for"},
    {"predicted gain of parking",
     "how the time of the program's run would change if the waiters at this wait site parked, computed from the "
     "polling that was recorded"},
    {"kernel", "a GPU function, by its name in the source"},
    {"how it fills the GPU",
     "a kernel with the launch shape that took the most time; all columns are computed from the launch, not "
     "measured"},
    {"kernel pair",
     "a kernel that started when the one before it on its stream was done; all launches with the same shapes"},
    {"kernel beside a holder of SMs",
     "a kernel that ran beside another one, next to whose blocks an SM has no room for its own"},
    {"meter of energy", "a GPU or a processor's package: its whole power, also what other programs use of it"},
    {"mean power", "from the first reading to the last one"},
    {"polling", "the power while the program waits in its own way, the mean of phases of 2 s or more"},
    {"parked", "the same while waits are parked"},
    {"polling takes",
     "how much more power polling takes than parking, with the 95 % interval over the phases; below resolution if "
     "the interval has 0"},
    {"polling, per iteration", "the energy of an iteration while the program waits in its own way"},
    {"parked, per iteration", "the same while waits are parked"},
    {"energy", "what the meter counted in that time"},
    {"of it for polling", "what polling took beyond what parking would have taken"},
    {"host wait", "a call of the CUDA runtime or driver in which host threads waited"},
    {"late because", "what made a step of a host thread longer than usual"},
    {"delays", "parts of steps that lasted longer than usual"},
    {"late", "time beyond the usual length, summed over the delays"},
    {"error", "the most by which that time may be wrong: clocks, and other causes at once"},
    {"GPU idle", "the part of that time in which the GPU did nothing"},
    {"host polling", "a call that only asks whether the GPU is done, and that a host thread repeated until it was"},
    {"waiting stream", "a stream whose next work waited for an event of another stream"},
    {"program counters",
     "a function in which samples found warps: the hardware notes from time to time where each warp is"},
    {"waits at an mbarrier",
     "a loop of a kernel that waits at an mbarrier, where the hardware suspends the warp; the tries before the loop "
     "count"},
    {"process", "the number of a process of the program"},
    {"MPI call", "a call of MPI, or of NCCL in a program of both, summed over the ranks"},
    {"NCCL call", "a call of NCCL, by the kernels that it enqueued, summed over the ranks"},
    {"MPI rank", "the number of the process in MPI_COMM_WORLD"},
    {"in trace", "the file that has the calls of this rank"},
    {"between", "one of two sides that communicate: the CPU or a device"},
    {"decided at", "when the autopilot decided, from the begin of the run"},
    {"decision of the autopilot",
     "trial: parking is tried; keep: it pays and stays; refuse: it does not; stay: what is kept was checked and still "
     "pays; go back: it does not pay any more; end: the autopilot has ended"},
    {"whose waits", "those of the device (warps, and declared sites), of host threads in calls of CUDA, or both"},
    {"polled / parked",
     "the time per unit of work while polling over that while parked, and its interval, which holds at every look; "
     "above 1 parking is shorter"},
    {"reason", "why, in a sentence"},
    {"per unit", "the typical time of a unit of work, polled and parked"},
    {"p99 of the units", "the 99th percentile of the units of work, polled and parked"},
    {"switched at", "when the way of waiting was changed, from the begin of the run"},
    {"side", "before or after the change, and how the program waited then"},
    {"phase", "a time in which the whole program waited in one way"},
    {"trace", "a recorded run, and how the program waited in it"},
    {"wait (p50)", "the median length of the waits at a wait site"},
    {"CPUs while waiting", "what a waiting host thread takes of a CPU: 1 while it spins, less while it sleeps"},
    {"power", "what a meter of energy read: the power of a GPU or a processor's package, also what other programs use"},
    {"before, per iteration", "the energy of an iteration: that power times the iteration's time"},
    {"after, per iteration", "the same after the change"},
    {"wake latency (p50)", "the median wake latency of the waiters of one device after the signals of another"},
    {"waits", "how many waits there were"},
    {"waiters", "how many different waiters there were"},
    {"times", "how often this happened"},
    {"calls", "how many calls there were"},
    {"launches", "how often the kernel ran"},
    {"total", "the sum of all times in the row; waiters that wait at the same time all count"},
    {"share",
     "for a wait site: the part of its time that one waiter spends waiting there, from the first iteration to the "
     "last wait; for a kernel: the part of its device's time; for the critical path: the part of the path; for "
     "program counters and waits at mbarriers: the part of the samples"},
    {"any", "the part of the time of the iterations in which at least one waiter waited"},
    {"p50", "the median: half of the times are shorter"},
    {"p99", "the 99th percentile: one time in a hundred is longer"},
    {"max", "the longest time"},
    {"polls", "how often a waiter looked at the word per wait"},
    {"strategy", "how the waiters waited: poll is the program's own way, all others are ways to park"},
    {"gain", "how the time of the program's run is predicted to change if the waiters of this wait site park"},
    {"matched", "how many waits have a known signal that ended them"},
    {"clock error", "how far the clocks of the signal and of the waiter may be apart; a smaller latency may be zero"},
    {"without a signal", "how many waits have no recorded signal that ended them"},
    {"words", "how many words the waiters look at, and how many look at one at most"},
    {"memory", "where the word lies: in the device's memory, in pinned host memory, ..."},
    {"mode", "poll: the program's own way of waiting; park: the waiters leave the SM to others"},
    {"share of its time", "the part of its time that one waiter spends waiting here"},
    {"came before its data",
     "the part of the waits in which the waiter arrived before the signal, and so had to wait for it (the WIC "
     "paper's scenario 2)"},
    {"until the signal",
     "the mean time per wait from the waiter's arrival to the signal: no way of waiting shortens it"},
    {"transfer", "the mean time of the copy that brought the data before the signal"},
    {"device", "where the work ran: cuda:0 is the first GPU, simt:0 the CPU device"},
    {"many pollers", "the mean number of pollers while the work took long"},
    {"few pollers", "the mean number of pollers while the work was quick"},
    {"times as long", "how many times as long the work took beside many pollers, with the 95 % interval in brackets"},
    {"where", "the device, the host thread or the wait site"},
    {"exposed", "the part of the critical path that is work beside pollers of this wait site"},
    {"break-even", "the shortest wait for which parking pays"},
    {"occupancy", "the part of an SM's warps that the launch can fill, and in brackets what limits it"},
    {"blocks", "the thread blocks of the launch"},
    {"threads", "the threads per block"},
    {"registers", "the registers per thread"},
    {"shared memory", "the shared memory per block"},
    {"waves", "how many times the blocks fill the GPU one after the other, and how full the last wave is"},
    {"waves of the first",
     "how many times the first kernel's blocks fill the GPU one after the other; persistent: as many blocks on "
     "each SM, whose number of tiles is not known"},
    {"gap", "the mean time from the first kernel's end to the second one's start"},
    {"idle SM time", "SM time without a block in the first kernel's last wave"},
    {"held SM time", "SM time in which a block of one of both kernels waited"},
    {"saved by tiles",
     "time that the program would save if each block of the second kernel waited for the tiles that it needs: "
     "expected, and from none to the most"},
    {"saved by dependent launch",
     "time that the program would save if the second kernel started early and then waited for all of the first "
     "(programmatic dependent launch): expected, and from none to the most"},
    {"saved by SMs of its own",
     "time that the program would save by tiles if only the second kernel used some of the SMs: expected, and from "
     "none to the most"},
    {"SMs held", "the SMs that the other kernel's blocks hold, of those of the device"},
    {"time beside", "the kernel's mean time beside the other one"},
    {"time alone", "the kernel's mean time in launches beside no kernel"},
    {"saved by spreading",
     "time that the program would save if the kernel's blocks were made for the SMs that are left: expected, and "
     "from none to the most"},
    {"CPU time", "the time for which the waiting threads occupied a CPU"},
    {"how", "spinning: the thread kept a CPU busy while it waited; sleeping: it did not; mixed: some of both"},
    {"thread", "the host thread, by its name or number"},
    {"runs", "how many times the thread polled until the GPU was done"},
    {"queries", "how many times the thread asked"},
    {"time", "the time that the thread spent asking"},
    {"queries/s", "how many times per second the thread asked while it polled"},
    {"for", "the stream that recorded the event"},
    {"behind", "the kernel that the event followed"},
    {"idle", "how long the stream had nothing to do because of these waits"},
    {"waiting warps",
     "what the warps do behind the wait: a producer starts copies to shared memory, a consumer loads or multiplies "
     "matrices from there; -: neither, or both, follows before another wait"},
    {"of its kernel", "the part of the samples of the loop's kernel"},
    {"samples", "how many times samples found a warp in the function or the loop"},
    {"hottest line", "the source line with the most samples"},
    {"warps stall on", "why the sampled warps could not go on, in the hardware's words"},
    {"rank", "the number of the process in its job (torchrun, MPI, Slurm)"},
    {"for late ranks",
     "the part of that time in which the call could not go on, since another rank had not come: late senders, late "
     "receivers and waits at collectives"},
    {"cost the others",
     "time that other ranks waited for this one; where it was late since it waited itself, the time counts for whom it "
     "waited for"},
    {"times last", "collectives in which this rank came last and others waited"},
    {"waited itself", "time that this rank waited for others"},
    {"most in", "the call in which others waited longest for this rank"},
    {"when the others waited for it",
     "the time of the run from left to right: a digit for each part of it, and a dot where nobody waited for this "
     "rank"},
    {"summed up", "what digests have sums of, and no rows"},
    {"rank p50", "the median over the ranks of this total"},
    {"rank max", "the largest total of a rank"},
    {"at rank", "the rank with the largest total"},
    {"local rank", "the number of the process on its machine"},
    {"command", "the command line"},
    {"and", "the other side"},
    {"forth", "messages from the first side to the second"},
    {"back", "messages from the second side to the first"},
    {"messages", "how many messages there were"},
    {"confidence", "how sure the answer before it is: 1 is certain"},
    {"iteration", "what one iteration of the communication is, and how often it comes"},
    {"model", "how both sides take turns: unidirectional, alternating, multiple, probabilistic"},
    {"pattern", "where in the data the messages go: streaming, adjacent, scatter-gather, random"},
    {"change", "from the time before to the time after: -6 % is a little less, 121 times shorter a lot less"},
    {"took effect after", "the time from the request until all waiters waited in the new way"},
    {"from", "when the phase began, from the begin of the comparison"},
    {"to", "when the phase ended, from the begin of the comparison"},
    {"iterations", "how many iterations count"},
    {"per iteration", "the median time of an iteration"},
    {"phases", "how many phases count as values"},
    {"runs", "how many runs count as values"},
    {"before", "the median before the change"},
    {"after", "the median after the change"},
    {"verdict",
     "improvement or regression: the change is larger than the tolerance and than what varies by itself; "
     "inconclusive: more phases or runs would tell"},
    {"host thread", "a thread on the CPU; samples of the scheduler's counters show it"},
    {"on a CPU", "the time for which the thread ran"},
    {"of the run", "that time as a part of the run: 100 % is one core all the time"},
    {"without a CPU", "the time for which the thread was ready to run but had no CPU"},
    {"name", "the session's name, for --session"},
    {"pid", "the number of the program's process"},
    {"app", "the program's file name"},
    {"started", "when the recording began, in local time"},
    {"events", "how many records the trace has so far"},
    {"drops", "how many records were lost so far"},
    {"trace", "the file that the session is recorded into"},
    {"program", "a sample program that was recorded in both modes"},
    {"poll", "the median time of an iteration while the program polled"},
    {"park", "the median time of an iteration while the program parked"},
    {"speed-up", "the time polled over the time parked: above 1, parking made it faster"},
    {"address", "where the word is that the waiters poll"},
    {"has", "the value of that word as it was read last"},
    {"wants", "the value that the waiters wait for, where the wait names it"},
    {"who", "the blocks or host threads that wait"},
    {"source", "where this is known from: a wait through wic, a patched loop, a host thread"},
    {"call", "the call of CUDA that a host thread has not left yet"},
    {"on", "the stream, event or device for which the call waits"},
    {"stream", "the stream into which the program has launched the kernel"},
    {"last call", "the call of MPI that the rank entered last, and what it waits for"},
    {"since", "how long the rank has been in that call, or how long ago it left the call"},
    {"waits for ranks", "the ranks that have to come before the call can end, if it has lasted for a second"},
    {"launched before", "how long ago the program launched the kernel"},
    {"state", "what the operating system says of the thread: it runs, or where it sleeps"},
};

/// The head of a column of kColumns: another one does not compile.
struct Head {
  consteval Head(const char* head) : text(head) {
    for (const Column& each : kColumns) {
      if (each.head == text) return;
    }
    throw "a column without a sentence in kColumns";
  }

  std::string_view text;
};

}  // namespace wicprof::reports
