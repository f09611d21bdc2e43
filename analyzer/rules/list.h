// All rules, in the order in which reports name them.
//
// To add a rule, write its file beside this one and add one line below. The file defines
// `template <> RuleOutcome apply<struct NewRule>(const RuleInput& input)`; without that definition nothing links.
#pragma once

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

inline constexpr Rule kRules[] = {
    {"notices", "what the runtime and the collector reported while recording", apply<struct Notices>, true},
    {"data_lost", "records were lost, so results are uncertain", apply<struct DataLost>, true},
    {"failed_calls", "kernels that failed, and launches that were refused", apply<struct FailedCalls>},
    {"deadline_missed", "waits gave up before they were released", apply<struct DeadlineMissed>},
    {"late_rank", "a rank of a job (MPI, NCCL) for which the others wait", apply<struct LateRank>, true},
    {"imbalance", "ranks of a job that keep the others waiting in turn", apply<struct Imbalance>, true},
    {"slow_device", "a rank whose GPU takes longer than the others' for the same kernels", apply<struct SlowDevice>,
     true},
    {"slow_link", "a rank whose copies take longer than the others' same ones", apply<struct SlowLink>, true},
    {"shared_device", "kernels that other programs' turns on the GPU interrupt or delay", apply<struct SharedDevice>,
     true},
    {"idle_device", "devices that have nothing to do, since the host gives them no work", apply<struct IdleDevice>},
    {"implicit_sync", "memory that a loop allocates and frees, for which the device waits", apply<struct ImplicitSync>},
    {"shared_stream", "host threads whose work waits for that of other threads in one stream",
     apply<struct SharedStreamRule>},
    {"hot_word", "many waiters poll one word at once", apply<struct HotWord>},
    {"no_gain", "waits that cost nothing, where parking gains nothing", apply<struct NoGain>},
    {"host_spin", "host threads that burn CPU time while they wait", apply<struct HostSpin>},
    {"host_polls_queries", "host threads that keep asking the GPU whether it is done", apply<struct HostPollsQueries>},
    {"host_descheduled", "host threads that were ready to run but had no CPU", apply<struct HostDescheduled>},
    {"host_throttled", "a CPU quota that stopped the program's threads", apply<struct HostThrottled>},
    {"host_oversubscribed", "host threads late because other threads had their CPUs", apply<struct HostOversubscribed>},
    {"host_stolen", "host threads late, perhaps since the machine's host had taken their CPUs",
     apply<struct HostStolen>},
    {"late_launch", "work that begins late after its launch with nothing in front of it", apply<struct LateLaunch>},
    {"late_completion", "host threads that go on late after the work that they waited for",
     apply<struct LateCompletion>},
    {"polling_kernel", "kernels that poll, found from samples of program counters", apply<struct PollingKernel>},
    {"shared_host_line", "many waiters on words in host memory that the sites' declarations do not show",
     apply<struct SharedHostLine>},
    {"atomic_polls", "polling by atomic operations", apply<struct AtomicPolls>},
    {"early_polling", "polling while other waiters of the same iteration still compute", apply<struct EarlyPolling>},
    {"late_wake", "waiters that resume long after they were released", apply<struct LateWake>},
    {"exposed_transfer", "copies during which the device computes nothing", apply<struct ExposedTransfer>},
    {"managed_ping_pong", "pages of managed memory that move back and forth", apply<struct ManagedPingPong>},
    {"module_loading", "code that is loaded while kernels run", apply<struct ModuleLoading>},
    {"co_residency", "waiting kernels whose blocks do not all fit the device at once", apply<struct CoResidency>},
    {"underfilled_wave", "a last wave that leaves the device half empty and delays the next kernel",
     apply<struct UnderfilledWave>},
    {"dependent_kernels", "kernels that start when the one before is done, and could start earlier",
     apply<struct DependentKernelPairs>},
};

}  // namespace wicprof::analyzer
