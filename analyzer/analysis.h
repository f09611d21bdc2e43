// The analyzer's interface: load a trace, analyze it, compare modes or traces.
//
//   auto model = load(reader, "run.wicprof");              // trace_model.h
//   Analysis analysis = analyze(*model);
//   Comparison comparison = compare(*model);               // around the interventions of one trace, or
//   Comparison comparison = compare(*before, *after);      // between two traces
// Folder reports/ renders the results.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analyzer/aggregates/party_matrix.h"
#include "analyzer/communication/classify.h"
#include "analyzer/compare/compare.h"
#include "analyzer/compare/energy.h"
#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/machine_code/stalls.h"
#include "analyzer/path/critical_path.h"
#include "analyzer/path/host_gain.h"
#include "analyzer/path/host_wait_parts.h"
#include "analyzer/path/lateness.h"
#include "analyzer/path/predict.h"
#include "analyzer/ranks/mpi_waits.h"
#include "analyzer/rules/loss.h"
#include "analyzer/rules/rule.h"
#include "analyzer/trace/clock_bounds.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/counted_waits.h"
#include "analyzer/waits/host_polling.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/waits/interrupted_kernels.h"
#include "analyzer/waits/iterations.h"
#include "analyzer/waits/matching.h"
#include "analyzer/waits/open_edges.h"
#include "analyzer/waits/sites.h"
#include "analyzer/waits/stream_waits.h"
#include "analyzer/waits/wait_model.h"
#include "analyzer/work/crowded_kernels.h"
#include "analyzer/work/dependent_kernels.h"
#include "analyzer/work/device_busy.h"
#include "analyzer/work/graph_stats.h"
#include "analyzer/work/interference.h"
#include "analyzer/work/kernels.h"
#include "analyzer/work/overlap.h"
#include "analyzer/work/own_cost.h"

namespace wicprof::analyzer {

/// All results for one trace. analyze.cpp shows how they follow from each other.
struct Analysis {
  Classification classification;
  std::vector<SiteStats> sites;             ///< most total waiting time first
  std::vector<WakeStats> wakes;             ///< per site, in the order of `sites`
  std::vector<CountedWaits> counted_waits;  ///< of patched loops, most waits first
  std::vector<SiteEdges> edges;             ///< of patched loops' sites, by site id
  std::vector<SiteWaits> site_waits;        ///< the wait model's sums, by site id and mode
  std::optional<SiteWaits> polled, parked;  ///< the sums over all sites in each mode
  std::optional<Iterations> iterations;     ///< what a comparison times (find_units())
  Interference interference;
  Overlaps overlaps;
  CriticalPath path;
  Prediction prediction;                    ///< its sites are in the order of `sites`
  Stalls stalls;                            ///< where the warps of sampled functions stall
  std::vector<PollingLoop> polling_loops;   ///< most samples first
  std::vector<PollingLoop> mbarrier_waits;  ///< loops of the kind try_wait, which do not poll; most samples first
  std::vector<Finding> findings;            ///< what costs most first, and what is negligible last
  std::vector<Refusal> refusals;            ///< rules that could not look, with the reason
  std::vector<Loss> loss;
  std::vector<KernelStats> kernels;  ///< this list and the next two: most time first
  std::vector<HostWaitStats> host_waits;
  std::vector<GraphStats> graphs;  ///< what is inside graphs that were recorded as a whole
  std::vector<HostPolling> host_polling;
  std::optional<Gain> host_park_gain;                   ///< of `wic-prof toggle park --side host`
  std::vector<HostWaitParts> host_wait_parts;           ///< of calls whose awaited work is known
  Lateness lateness;                                    ///< why host threads, launches and kernels were late
  DependentKernels dependent_kernels;                   ///< which kernels could start before their predecessor's end
  std::vector<InterruptedKernels> interrupted_kernels;  ///< by turns of others on the device
  std::vector<CrowdedKernel> crowded_kernels;           ///< beside kernels that hold SMs
  MpiWaits mpi;                                         ///< which ranks waited for which
  StreamWaitTable stream_waits;
  std::vector<ClockBounds> clocks;
  std::vector<DeviceBusy> devices;   ///< with kernels or copies, by number
  std::vector<ThreadStats> threads;  ///< most CPU time first
  OwnCost own_cost;
  std::vector<EnergyUse> energy;     ///< per meter; empty if none was read
  std::vector<PartyMatrix> parties;  ///< who waited for whom, one per entry of kPartyBy; empty if left out
};

/// The matrices of parties take about as long as the rest of an analysis, and only documents and the window show them.
enum class Parties { matrices, left_out };

Analysis analyze(const TraceModel& model, Parties parties = Parties::matrices);

struct FigureTrace;  // figures/figure.h

/// Keeps what figures and timelines are made of, which takes a good part of the trace's memory. The model must outlive
/// it.
struct DrawnAnalysis {
  Analysis analysis;
  std::shared_ptr<const FigureTrace> drawn;
};
DrawnAnalysis analyze_to_draw(const TraceModel& model);

}  // namespace wicprof::analyzer
