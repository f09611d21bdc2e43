// What each table shows. `most` limits the rows.
#pragma once

#include <cstddef>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"
#include "reports/parts/table.h"

namespace wicprof::reports {

inline constexpr std::size_t kAllRows = static_cast<std::size_t>(-1);

/// An estimate with its interval.
Cell watts_cell(const Estimate& watts);
Cell joules_cell(const Estimate& joules);

// Waits (wait_tables.cpp).
/// A row per site, with the most waiting time first, and a part per strategy if a site had several.
Table sites_table(const Analysis& analysis, std::size_t most);
Table wakes_table(const Analysis& analysis, std::size_t most);
/// How many words the waiters of each site look at; without rows if the trace does not distinguish words.
Table words_table(const Analysis& analysis, std::size_t most);
/// Waits of patched loops that are counted; without rows if none are.
Table counted_waits_table(const Analysis& analysis, std::size_t most);
Table wait_model_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
Table pairs_table(const Classification& classification, std::size_t most);
Table site_communication_table(const Classification& classification, std::size_t most);
Table interventions_table(const TraceModel& model, std::size_t most);
/// What the autopilot decided; without rows where it was off.
Table decisions_table(const TraceModel& model, std::size_t most);

// Work of devices (work_tables.cpp).
Table kernels_table(const Analysis& analysis, std::size_t most);
/// Occupancy and waves; without rows if no device's limits are known.
Table filling_table(const Analysis& analysis, std::size_t most);
Table dependent_kernels_table(const DependentKernels& kernels, std::size_t most);
/// Kernels that ran beside a kernel that holds SMs.
Table crowded_table(const Analysis& analysis, std::size_t most);
Table functions_table(const Analysis& analysis, std::size_t most, std::size_t most_reasons);
Table mbarrier_waits_table(const Analysis& analysis, std::size_t most);
Table interference_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
/// Without the shares that round to 0.1 % or less.
Table path_table(const CriticalPath& path, std::size_t most);
Table prediction_table(const Analysis& analysis, std::size_t most);

/// What meters of energy read; without rows if none was read.
Table energy_table(const Analysis& analysis, std::size_t most);
/// What polling at each wait site takes; without rows where the phases of `run --ab` do not show it.
Table site_energy_table(const Analysis& analysis, std::size_t most);

// Host threads (host_tables.cpp).
Table host_waits_table(const Analysis& analysis, std::size_t most);
/// Why host threads, launches and kernels were late, by site and cause.
Table lateness_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
Table threads_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
Table processes_table(const TraceModel& model, std::size_t most);
/// Of ranks: as MPI numbers them, or where only NCCL is recorded, as the launcher does.
Head rank_head(const MpiWaits& mpi);
/// The calls of MPI and NCCL, and what each rank cost the others; without rows if there are none.
Table mpi_calls_table(const Analysis& analysis, std::size_t most);
Table mpi_ranks_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
/// What digests have sums of, by kind; without rows for traces.
Table digest_totals_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
Table polling_table(const TraceModel& model, const Analysis& analysis, std::size_t most);
Table stream_waits_table(const TraceModel& model, const Analysis& analysis, std::size_t most);

// Comparisons (comparison_tables.cpp).
Table sides_table(const Comparison& comparison);
Table segments_table(const Comparison& comparison, std::size_t most);
Table site_differences_table(const Differences& differences, std::size_t most);
/// What a waiting host thread takes of a CPU; without rows if that is not known of any site.
Table cpu_table(const Differences& differences, std::size_t most);
Table edge_differences_table(const Differences& differences, std::size_t most);
/// The power that meters of energy read; without rows if no meter was read on both sides.
Table meter_differences_table(const Comparison& comparison, std::size_t most);
/// What polling takes at each wait site; without rows where the phases of `run --ab` do not show it of any.
Table site_energy_differences_table(const Differences& differences, std::size_t most);

}  // namespace wicprof::reports
