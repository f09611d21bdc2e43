// The analyzer's table of contents: each step, and the steps whose results it uses.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/compare/compare.h"
#include "analyzer/compare/timed_units.h"
#include "analyzer/figures/figure.h"
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

/// Of the units, within the window: calls before them are of the program's start.
TimeNs first_begin(const std::vector<Iterations>& units, Interval window) {
  TimeNs first = window.end;
  for (const Iterations& each : units) first = std::min(first, each.list.front().begin);
  return std::max(window.begin, first);
}

}  // namespace

namespace {

/// The analysis in chapters. The tasks of one chapter are independent and run concurrently. An intermediate result of a
/// large trace takes a good part of the trace's memory, so each is released after its last use.
class Chapters {
 public:
  explicit Chapters(const TraceModel& model) : model_(model), modes_(model) {}

  DrawnAnalysis take(Parties parties, bool to_draw) {
    from_trace();
    from_wake_edges(parties);
    from_work();
    from_waiters(to_draw);
    findings();
    all_.loss = losses(model_);
    return {std::move(all_), std::move(drawn_)};
  }

 private:
  void from_trace() {
    tasks_.add([&] { matching_ = std::make_shared<const Matching>(match(model_)); });
    tasks_.add([&] {
      {
        const CallIndex calls(model_);
        work_.emplace(model_, calls);
        all_.clocks = clock_bounds(model_, calls, *work_);
        all_.stream_waits = stream_waits(model_, calls, *work_);
      }
      followed_ = followers(model_, *work_);
      index_.emplace(model_, *work_);
    });
    tasks_.add([&] {
      all_.stalls = gather_stalls(model_);
      for (PollingLoop& loop : find_polling_loops(model_, all_.stalls)) {
        (loop.kind == LoopKind::try_wait ? all_.mbarrier_waits : all_.polling_loops).push_back(std::move(loop));
      }
    });
    tasks_.add([&] {
      all_.kernels = kernel_stats(model_);
      all_.graphs = graph_stats(model_);
      all_.devices = device_busy(model_, {model_.begin, model_.end});
    });
    tasks_.add([&] { all_.host_waits = host_wait_stats(model_); });
    tasks_.add([&] { all_.counted_waits = counted_waits(model_); });
    tasks_.add([&] { all_.host_polling = host_polling(model_); });
    tasks_.add([&] { all_.mpi = mpi_waits(model_); });
    tasks_.add([&] {
      all_.threads = thread_stats(model_);
      all_.own_cost = own_cost(model_, all_.threads);
    });
    tasks_.run();
  }

  /// These take much memory.
  void from_wake_edges(Parties parties) {
    tasks_.add([&] { all_.classification = classify(model_, *matching_); });
    if (parties == Parties::matrices) {
      tasks_.add([&] { all_.parties = PartyMatrices(model_, matching_->edges, *index_).matrices(kPartyBy); });
    }
    tasks_.add([&] { all_.edges = open_edges(model_, *matching_); });
    tasks_.add([&] {
      waiters_ = std::make_shared<const Waiters>(model_);
      found_ = find_iterations(model_, *waiters_);
    });
    tasks_.run();
  }

  /// From wake edges, device work and the iterations.
  void from_work() {
    std::vector<Iterations> found = std::move(found_);
    ground_ = iteration_window(model_, found).value_or(Interval{model_.begin, model_.end});
    if (!found.empty()) at_sites_ = found.front().list;
    std::vector<std::string> noted;  // compare_iterations() notes the same
    std::vector<Segment> segments = find_segments(model_, noted);
    TimedUnits timed = find_units(model_, {}, segments, std::move(found));
    if (timed.source == UnitSource::ranges) ground_.begin = first_begin(timed.candidates, ground_);
    if (!timed.candidates.empty()) all_.iterations = std::move(timed.candidates.front());
    if (all_.iterations) {
      for (Segment& segment : segments) fill(segment, all_.iterations->list);
    }
    all_.energy = energy_use(model_, segments);
    tasks_.add([&] { all_.path = critical_path(model_, *matching_, *work_, *index_, ground_); });
    tasks_.add([&] {
      const IdleTimes idle(*work_);
      all_.host_wait_parts = host_wait_parts(model_, *index_, idle, ground_);
      all_.lateness = lateness(model_, *work_, *index_, idle, ground_);
      memory_calls_ = memory_calls(model_, idle, ground_);
      shared_streams_ = shared_streams(model_, *work_, ground_);
    });
    tasks_.add([&] {
      kernels_ = std::make_shared<const WaitKernels>(model_, *waiters_);
      all_.interrupted_kernels = interrupted_kernels(model_, *kernels_, *work_, late_starts(model_, *work_));
    });
    tasks_.run();
    index_.reset();
    work_.reset();
  }

  /// From wake edges, waiters and their kernels.
  void from_waiters(bool to_draw) {
    const std::vector<WakeStats> wakes = matching_->sites;
    tasks_.add([&] {
      drawn_ = std::make_shared<FigureTrace>(model_, std::move(matching_), waiters_, kernels_);
      all_.site_waits = drawn_->waits.sites();
      all_.polled = drawn_->waits.whole(Mode::poll);
      all_.parked = drawn_->waits.whole(Mode::park);
      if (!to_draw) drawn_.reset();
    });
    tasks_.add([&] { all_.host_park_gain = host_park_gain(model_, all_.lateness, ground_.end - ground_.begin); });
    tasks_.add([&] { all_.sites = site_stats(model_, *waiters_, ground_); });
    tasks_.add([&] {
      const std::vector<TimeNs> held = held_sm_time(model_, *kernels_);
      all_.dependent_kernels = dependent_kernels(model_, *followed_, held);
      all_.crowded_kernels = crowded_kernels(model_, *followed_, held);
      followed_.reset();
    });
    tasks_.add([&] { all_.overlaps = overlap(model_, *waiters_, *kernels_, modes_); });
    tasks_.add([&] { all_.interference = interference(model_, *waiters_, *kernels_, modes_); });
    tasks_.run();
    all_.wakes = in_order_of(all_.sites, wakes);
    if (drawn_ != nullptr) drawn_->overlaps = all_.overlaps;
  }

  /// From the critical path and the figures of sites, kernels and loops.
  void findings() {
    tasks_.add([&] { all_.prediction = predict(model_, all_.path, modes_, all_.sites, at_sites_); });
    tasks_.add([&] {
      const Comparison change = compare_iterations(model_, all_.iterations ? &*all_.iterations : nullptr);
      RuleVerdicts verdicts = apply_rules({model_, all_.sites, all_.polling_loops, all_.wakes, all_.kernels,
                                           all_.devices, all_.host_polling, all_.host_wait_parts, all_.lateness,
                                           all_.dependent_kernels, all_.crowded_kernels, all_.interrupted_kernels,
                                           all_.mpi, all_.path, memory_calls_, shared_streams_, ground_, change});
      all_.findings = std::move(verdicts.findings);
      all_.refusals = std::move(verdicts.refusals);
    });
    tasks_.run();
  }

  const TraceModel& model_;
  const Modes modes_;
  Tasks tasks_;
  Analysis all_;
  std::shared_ptr<FigureTrace> drawn_;
  std::shared_ptr<const Matching> matching_;    // wake edges: which signal ended which wait
  std::optional<DeviceWork> work_;              // kernels and copies by stream, and the calls that launched them
  std::optional<WorkIndex> index_;              // the same by time
  std::optional<Followers> followed_;           // which kernel follows which
  std::shared_ptr<const Waiters> waiters_;      // who waits, and in which iteration
  std::vector<Iterations> found_;               // by site and device
  std::vector<Iteration> at_sites_;             // at the site and device that have the most
  MemoryCalls memory_calls_;                    // calls that allocate and free
  std::vector<SharedStream> shared_streams_;    // of several host threads
  Interval ground_;                             // of shares of time: the window of the iterations
  std::shared_ptr<const WaitKernels> kernels_;  // the kernels that contain waits
};

}  // namespace

Analysis analyze(const TraceModel& model, Parties parties) { return Chapters(model).take(parties, false).analysis; }

DrawnAnalysis analyze_to_draw(const TraceModel& model) { return Chapters(model).take(Parties::matrices, true); }

}  // namespace wicprof::analyzer
