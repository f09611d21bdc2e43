// The checks of `wic-prof doctor`, in the order of its answer.
//
// To add a check, write its file beside this one and add one line below. The file defines
// `template <> std::vector<Check> run_check<struct NewCheck>(const Machine& machine)`.
#pragma once

#include "cli/checks/check.h"

namespace wicprof::cli {

inline constexpr std::vector<Check> (*kChecks[])(const Machine& machine) = {
    run_check<struct SessionFolder>,  //
    run_check<struct NewSession>,    run_check<struct SharedMemory>,
    run_check<struct CpuQuotaCheck>, run_check<struct Ptrace>,
    run_check<struct Clock>,         run_check<struct SchedulerStatistics>,
    run_check<struct PerfEvents>,    run_check<struct Container>,
    run_check<struct Display>,       run_check<struct Driver>,
    run_check<struct Gpus>,          run_check<struct Collector>,
    run_check<struct Cupti>,         run_check<struct PatchedCodeCheck>,
    run_check<struct ModuleLoading>, run_check<struct Overlap>,
    run_check<struct DeviceMemory>,  run_check<struct PeerAccess>,
    run_check<struct Nvdisasm>,      run_check<struct ProfilingRights>,
};

}  // namespace wicprof::cli
