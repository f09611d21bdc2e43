// The analyzer's table of contents: each step, and the steps whose results it uses.
#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/compare/compare.h"
#include "analyzer/measure/tasks.h"
#include "analyzer/rules/verdicts.h"
#include "analyzer/work/held_sms.h"

namespace wicprof::analyzer {
namespace {

/// One entry per site, empty where `known` has none.
std::vector<WakeStats> in_order_of(const std::vector<SiteStats>& sites, const std::vector<WakeStats>& known) {
  std::vector<WakeStats> wakes;
  for (const SiteStats& site : sites) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const WakeStats& w) { return w.site == site.site; });
    WakeStats none;
    none.site = site.site;
    wakes.push_back(found == known.end() ? none : *found);
  }
  return wakes;
}

}  // namespace

// The tasks of one chapter are independent and run concurrently. An intermediate result of a large trace takes a good
// part of the trace's memory, so each is released after its last use.
Analysis analyze(const TraceModel& model, Parties parties) {
  Analysis analysis;
  const Modes modes(model);
  Tasks tasks;

  // 1. From the trace alone.
  std::optional<Matching> matching;   // wake edges: which signal ended which wait
  std::optional<DeviceWork> work;     // kernels and copies by stream, and the calls that launched them
  std::optional<Followers> followed;  // which kernel follows which
  tasks.add([&] { matching = match(model); });
  tasks.add([&] {
    work.emplace(model);
    analysis.clocks = clock_bounds(model, *work);
    analysis.stream_waits = stream_waits(model, *work);
    followed = followers(model, *work);
  });
  tasks.add([&] {
    analysis.stalls = gather_stalls(model);
    analysis.polling_loops = find_polling_loops(model, analysis.stalls);
  });
  tasks.add([&] {
    analysis.kernels = kernel_stats(model);
    analysis.graphs = graph_stats(model);
    analysis.devices = device_busy(model);
  });
  tasks.add([&] { analysis.host_waits = host_wait_stats(model); });
  tasks.add([&] { analysis.host_polling = host_polling(model); });
  tasks.add([&] { analysis.mpi = mpi_waits(model); });
  tasks.add([&] {
    analysis.threads = thread_stats(model);
    analysis.own_cost = own_cost(model, analysis.threads);
  });
  tasks.run();

  // 2. From wake edges, whose analyses take much memory.
  tasks.add([&] { analysis.classification = classify(model, *matching); });
  if (parties == Parties::matrices) {
    tasks.add([&] {  // one after the other, since each holds the lengths of all waits
      const PartyMatrices matrices(model, matching->edges, *work);
      for (const PartyBy by : kPartyBy) analysis.parties.push_back(matrices.matrix(by));
    });
  }
  tasks.add([&] { analysis.edges = open_edges(model, *matching); });
  tasks.run();

  // 3. From wake edges, device work and the iterations.
  std::optional<Waiters> waiters;  // who waits, and in which iteration
  std::vector<Iterations> found = find_iterations(model, waiters.emplace(model));
  const Interval ground =  // of shares of time: the window of the iterations
      iteration_window(model, found).value_or(Interval{model.begin, model.end});
  if (!found.empty()) analysis.iterations = std::move(found.front());
  std::optional<WaitKernels> kernels;  // the kernels that contain waits
  tasks.add([&] {
    analysis.path = critical_path(model, *matching, *work, ground);
    kernels.emplace(model, *waiters);
  });
  tasks.add([&] {
    const WorkIndex index(model, *work);
    analysis.host_wait_parts = host_wait_parts(model, index, ground);
    analysis.lateness = lateness(model, *work, index, ground);
  });
  tasks.run();
  work.reset();

  // 4. From wake edges, waiters and their kernels.
  const std::vector<WakeStats> wakes = std::move(matching->sites);
  tasks.add([&] {
    const WaitModel waits(model, *matching, *waiters, modes);
    analysis.site_waits = waits.sites();
    analysis.polled = waits.whole(Mode::poll);
    analysis.parked = waits.whole(Mode::park);
    matching.reset();
  });
  tasks.add([&] { analysis.host_park_gain = host_park_gain(model, analysis.lateness, ground.end - ground.begin); });
  tasks.add([&] { analysis.sites = site_stats(model, *waiters, ground); });
  tasks.add([&] {
    const std::vector<TimeNs> held = held_sm_time(model, *kernels);
    analysis.dependent_kernels = dependent_kernels(model, *followed, held);
    analysis.crowded_kernels = crowded_kernels(model, *followed, held);
    followed.reset();
  });
  tasks.add([&] { analysis.overlaps = overlap(model, *waiters, *kernels, modes); });
  tasks.add([&] { analysis.interference = interference(model, *waiters, *kernels, modes); });
  tasks.run();

  // 5. From the critical path and the figures of sites, kernels and loops.
  analysis.wakes = in_order_of(analysis.sites, wakes);
  tasks.add([&] {
    const std::vector<Iteration> iterations =
        analysis.iterations ? analysis.iterations->list : std::vector<Iteration>();
    analysis.prediction = predict(model, analysis.path, modes, analysis.sites, iterations);
  });
  tasks.add([&] {
    const Comparison change = compare_iterations(model, analysis.iterations ? &*analysis.iterations : nullptr);
    RuleVerdicts verdicts =
        apply_rules({model, analysis.sites, analysis.polling_loops, analysis.wakes, analysis.kernels,
                     analysis.host_polling, analysis.host_wait_parts, analysis.lateness, analysis.dependent_kernels,
                     analysis.crowded_kernels, analysis.mpi, ground, change});
    analysis.findings = std::move(verdicts.findings);
    analysis.refusals = std::move(verdicts.refusals);
  });
  tasks.run();
  analysis.loss = losses(model);
  return analysis;
}

}  // namespace wicprof::analyzer
