// The words of the outputs that are no columns of tables (those: columns.h), and columns of outputs for programs. Each
// has one sentence or two. `wic-prof explain` prints them; docs/words.md is a copy, which a test compares.
#pragma once

#include <string_view>

namespace wicprof::reports {

struct Term {
  std::string_view word;
  std::string_view meaning;
};

inline constexpr Term kTerms[] = {
    // Waiting.
    {"wait",
     "a thread, warp or block, or a CPU thread, stays at one place until a word in memory has the value it needs"},
    {"wait site",
     "a place in the program where something waits; the program names it, and the toggle can change it alone"},
    {"word", "the 4 or 8 bytes in memory that a waiter looks at and a signal changes; also called flag"},
    {"waiter", "who waits: the threads that wait together on a GPU (a warp, a block), or one CPU thread"},
    {"consumer", "the side that waits for data"},
    {"producer", "the side that makes the data and then signals"},
    {"signal", "the write of a word that ends the waits for it"},
    {"poll",
     "to read the word again and again until it changes; as a mode: the program's own way of waiting, whatever it is. "
     "On a "
     "GPU a polling warp takes turns and memory traffic from the others"},
    {"park",
     "to wait without disturbing others: few threads look at the word, the others sleep or stand at a barrier; as a "
     "mode: wic-prof or wic's backend waits for the program, by one of its strategies"},
    {"mode",
     "poll (the program's own way of waiting) or park (wic-prof's ways); the toggle changes it while the program runs"},
    {"toggle", "to change the mode of a running program, with wic-prof toggle or in the window"},
    {"intervention", "a change of mode or strategy in the running program; the trace keeps when it took effect"},
    {"deadline", "the time at which a wait gives up; the program then goes on without the data"},
    {"iteration", "one round of the program: the waits at a site repeat once per round"},
    {"spin", "a CPU thread waits without sleeping, and so keeps one core busy"},
    {"host thread", "a thread on the CPU"},
    {"CPU device",
     "simt:N, a CPU that runs the same kernels as the GPU; it shows how the tool works, and its times say nothing "
     "about a "
     "GPU"},
    // The wait model.
    {"T_c", "the WIC paper's time at which the consumer arrives and needs the data: its wait begins"},
    {"T_p", "the WIC paper's time at which the producer's data is ready: the signal"},
    {"W_p", "the WIC paper's length of a wait: from T_c until the consumer goes on"},
    {"W_t", "the WIC paper's time of a transfer: the copy that brought the data before the signal"},
    {"scenario 1", "the data came before its consumer, so that the data waited"},
    {"scenario 2", "the consumer came before its data, so that the consumer waited"},
    {"wake latency",
     "the time from the signal, or from the waiter's arrival if that came later, until the waiter goes on: what the "
     "way of "
     "waiting itself costs"},
    {"wake edge", "the pair of a signal and the wait that it ended; an arrow in the window and in the report"},
    {"critical path", "the chain of work, wake-ups, launches and copies that the end of the program waited for"},
    {"interference", "work takes longer because others poll beside it"},
    {"overlap",
     "the part of the waiting during which other blocks computed on the same SM, so that the wait cost nothing"},
    {"exposed", "work beside pollers that lies on the critical path, so that its slowness delays the end"},
    {"break-even", "the shortest wait for which parking pays"},
    // Waiting through wic.
    {"wait_until",
     "wic::wait_until, of the package libwic-dev: a wait in a kernel that wic-prof records and the toggle parks; "
     "wic::Site::wait is the same for a wait site with a name. share/doc/wic-prof/waiting.md shows the usual loops "
     "before "
     "and after"},
    {"channel",
     "wic::Channel, of libwic-dev: messages between threads on GPUs and CPUs whose waits wic-prof records and can "
     "park, "
     "without a lock and without pages that move. share/doc/wic-prof/channels.md has the "
     "details"},
    {"tile",
     "a part of a kernel's result, as wic/tiles.h of libwic-dev counts them: two kernels run at once, and each block "
     "of "
     "the second waits for the tiles that it needs. share/doc/wic-prof/tiles.md has the details"},
    // Comparing.
    {"phase", "a time in which the whole program waits in one mode; a comparison counts each phase as one value"},
    {"interval", "the range that holds the true value with 95 % confidence"},
    {"speed-up",
     "the median time of an iteration before, over the one after: above 1, the program became faster; with a speed-up "
     "of 3 the time is 3 times shorter"},
    {"improvement", "the time became shorter, by more than the tolerance and more than times vary by themselves"},
    {"regression", "the time became longer, by more than the tolerance and more than times vary by themselves"},
    {"no change", "the interval of the change lies within the tolerance"},
    {"inconclusive", "the trace does not decide; the answer names the command that does"},
    {"tolerance", "a smaller change counts as no change; 2 % unless --tolerance says otherwise"},
    {"precision", "how narrow the interval gets before wic-prof run --ab ends the comparison"},
    {"placebo", "a comparison of poll with poll, which shows what the comparison finds by chance"},
    // Recording.
    {"session", "a run while it is being recorded; wic-prof sessions lists them, wic-prof toggle changes one"},
    {"trace", "the recorded run: one file, .wicprof"},
    {"drops", "records that were lost because the program wrote them faster than wic-prof could read them"},
    {"events", "what the program and the collector recorded: waits, signals, kernels, copies, calls and so on"},
    {"finding", "a fact about the trace that costs time, with its evidence and a remedy; a rule of wic-prof found it"},
    {"not looked at", "a rule lacked what it needs, so its silence says nothing; the reason stands beside it"},
    // Communication.
    {"unidirectional", "a model of communication: one side sends, the other never does"},
    {"alternating", "a model of communication: one transfer each way per iteration"},
    {"multiple", "a model of communication: the same number of transfers in every iteration, not one each way"},
    {"probabilistic", "a model of communication: numbers of transfers that vary from iteration to iteration"},
    {"streaming", "a pattern: the messages advance through the data in one direction"},
    {"adjacent", "a pattern: few places, again and again, at the border between both sides' data"},
    {"scatter-gather", "a pattern: regular pieces from all over the data"},
    {"random", "a pattern: irregular pieces, or ranges that jump without order"},
    {"unknown", "the trace does not show the answer; the evidence says why"},
};

inline constexpr Term kStrategyTerms[] = {
    {"auto",
     "a strategy of park: wic chooses one of the others per wait site, by what it observes there, and says why"},
    {"backoff", "a strategy of park: all pollers go on reading, with sleeps that double up to 8 us"},
    {"predicted_sleep",
     "a strategy of park: sleeps for four fifths of the time that earlier waits predict, then reads"},
    {"block",
     "a strategy of park for host threads in calls of CUDA: sleeps, and asks in between whether the work is done"},
    {"hybrid",
     "a strategy of park for host threads in calls of CUDA, and auto there: sleeps for the part of the wait that it "
     "predicts, then polls, or sleeps and asks in turn where the end is uncertain"},
    {"spin", "a strategy of park for host threads in calls of CUDA: asks without a pause whether the work is done"},
    {"pause", "a strategy of park for patched loops: all waiters read the word, with pauses that grow with the wait"},
    {"watch",
     "a strategy of park for patched loops that wait for one word: like pause; but where reads of the word are slow, "
     "one thread of the device reads it for all"},
    {"leader_bar_sync", "a strategy of park: one thread per block reads the word, the others stand at a barrier"},
    {"leader_mbarrier", "a strategy of park: one thread per block reads the word, the others wait at an mbarrier"},
    {"leader_mbarrier_hint",
     "a strategy of park: like leader_mbarrier, with a time limit for each try at the mbarrier"},
    {"shared_watch",
     "a strategy of park: one thread per device reads the word, all other waiters read copies in device memory; for "
     "many waiters on one word"},
    {"naive", "one thread per block polls by atomics, as in Algorithm 1 of the WIC paper; only for comparison"},
};

/// Columns of analyze --figure, and of the CSV.
inline constexpr Term kFigureColumns[] = {
    {"trace", "the trace's file name"},
    {"site", "the wait site"},
    {"consumer_share", "the part of its time that a consumer spends in communication, waiting and transfer together"},
    {"consumer_share_poll", "consumer_share while the program polled"},
    {"consumer_share_park", "consumer_share while the program parked"},
    {"producer_share", "the part of the time in which a transfer of the producer's data runs"},
    {"mean", "how long the consumer came before its data, as a part of its cycle: the mean over the waits"},
    {"deviation", "the standard deviation of the values behind mean"},
    {"polling_share", "the part of the communication that is waiting and not transfer"},
    {"checks_mean", "reads of the word per wait, the mean"},
    {"checks_p50", "reads of the word per wait, the median"},
    {"checks_max", "the most reads of the word in one wait"},
    {"progress", "how far an iteration's waiting has come: 0 is the first arrival, 1 the last waiter that goes on"},
    {"not_arrived", "the part of the waiters that have not arrived yet"},
    {"not_done", "the part of the blocks that never wait and have not signalled yet"},
    {"without_data", "the part of the waiters that have arrived and wait"},
    {"speedup", "the median time of an iteration polled over the one parked"},
    {"application", "the program whose ways of waiting and of moving messages are compared"},
    {"contender", "how it waits: naive, poll or park; and as whom it moves its messages (--rival)"},
    {"baseline", "what the contender is compared with: naive, or poll where no trace is naive"},
    {"low", "the lower end of the interval"},
    {"high", "the upper end of the interval"},
    {"overlapped", "the part of the waiting during which blocks computed on the same SM, as the trace shows"},
    {"at_most", "the same if all blocks that never wait computed for as long as their kernel ran"},
    {"part", "whose cost: wic-prof's threads in the program, its own process, or records inside kernels"},
    {"scale", "what the next column counts: threads, or waiting groups where no kernels were recorded"},
    {"threads", "the threads of the largest kernel that waits"},
    {"host_waits", "waits of CPU threads"},
    {"waiters", "how many different waiters there were"},
    {"total_ns", "the sum of all waits in nanoseconds"},
    {"p50_ns", "the median in nanoseconds"},
    {"p99_ns", "the 99th percentile in nanoseconds"},
    {"max_ns", "the longest wait in nanoseconds"},
    {"polls_per_wait", "reads of the word per wait, the mean"},
    {"max_waiting", "the largest number of waits inside kernels at the same time"},
    {"waiters_a_word", "the largest number of waits on one word at the same time"},
    {"deadline_missed", "waits that gave up because their deadline passed"},
    {"wake_p50_ns", "the median wake latency in nanoseconds"},
    {"wake_p99_ns", "the 99th percentile of the wake latency in nanoseconds"},
};

}  // namespace wicprof::reports
