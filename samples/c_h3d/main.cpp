#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>
#include <thread>

#include "c_h3d/check_plan.h"
#include "c_h3d/reference.h"
#include "c_h3d/ring.h"
#include "common/options.h"

namespace {

using sample::h3d::CheckPlan;
using sample::h3d::Comparison;
using sample::h3d::Reference;
using sample::h3d::Ring;
using wicprof::Result;

struct Options : sample::SampleOptions {
  std::uint32_t size = 0;  ///< 0 = as the device kind has it
  std::uint32_t threads = std::clamp(std::thread::hardware_concurrency() / 2, 1u, 2u);
  std::string check = "end";

  bool check_every() const { return check == "every"; }
};

struct Outcome {
  std::uint32_t iterations = 0;
  std::uint32_t checked_from = 0;  ///< the reference repeated the iterations after this one
  double iteration_us = 0;
  Ring::Trouble trouble;
  Comparison cells;
  bool total_kept = true;

  bool ok() const { return trouble.none() && cells.ok() && total_kept; }
};

// Drives the ring and the reference beside it.
class Program {
 public:
  Program(Ring& ring, const Options& options)
      : ring_(ring),
        options_(options),
        plan_(CheckPlan::for_cells(ring.domain().cells())),
        reference_(ring.domain(), sample::h3d::initial_field(ring.domain()), 0),
        total_(sample::h3d::total(reference_.field())) {}

  Result<Outcome> run() {
    if (Result<> scattered = ring_.scatter(reference_.field()); !scattered) return scattered.error();
    const bool timed = options_.seconds > 0;
    const std::uint32_t reference_begin =
        timed || options_.check_every() ? 0 : plan_.begin_of(options_.iterations);
    bool going = true;
    for (sample::Progress progress(options_); going && progress.more();) {
      if (reference_begin != 0 && progress.done() == reference_begin) {
        if (Result<> begun = begin_reference(); !begun) return begun.error();
      }
      const Result<bool> done = iterate(progress.next());
      if (!done) return done.error();
      going = *done;
    }
    if (timed && !options_.check_every() && going) {
      if (Result<> more = run_extra(); !more) return more.error();
    }
    return finish();
  }

 private:
  // False when something went wrong that makes going on pointless.
  Result<bool> iterate(std::uint32_t iteration) {
    const wicprof::TimeNs begin = wicprof::now_ns();
    const Result<bool> in_time = ring_.iterate(iteration, options_.timeout_ns());
    if (!in_time) return in_time.error();
    times_.push_back(static_cast<double>(wicprof::now_ns() - begin) / 1e3);
    outcome_.iterations = iteration;
    if (!*in_time || !options_.check_every()) return *in_time;
    if (Result<> checked = check(); !checked) return checked.error();
    return outcome_.ok();
  }

  // From here on the reference goes along; what came before keeps the total.
  Result<> begin_reference() {
    auto field = ring_.gather();
    if (!field) return field.error();
    reference_ = Reference(ring_.domain(), *std::move(field), outcome_.iterations);
    return wicprof::ok();
  }

  Result<> run_extra() {
    const std::uint32_t extra = plan_.extra_after(outcome_.iterations);
    if (extra == 0) return wicprof::ok();
    if (Result<> begun = begin_reference(); !begun) return begun;
    for (std::uint32_t i = 0; i < extra; ++i) {
      const Result<bool> done = iterate(outcome_.iterations + 1);
      if (!done) return done.error();
      if (!*done) break;
    }
    return wicprof::ok();
  }

  Result<> check() {
    const auto trouble = ring_.settle();
    if (!trouble) return trouble.error();
    outcome_.trouble = *trouble;
    if (outcome_.trouble.missed != 0) return wicprof::ok();  // the ranks stopped where they were
    const auto field = ring_.gather();
    if (!field) return field.error();
    reference_.advance_to(outcome_.iterations);
    outcome_.cells = reference_.compare(*field);
    outcome_.total_kept = sample::h3d::total(*field) == total_;
    return wicprof::ok();
  }

  Result<Outcome> finish() {
    if (outcome_.ok()) {
      if (Result<> checked = check(); !checked) return checked.error();
    }
    outcome_.checked_from = reference_.from();
    outcome_.iteration_us = sample::median(times_);
    return outcome_;
  }

  Ring& ring_;
  const Options& options_;
  CheckPlan plan_;
  Reference reference_;
  sample::h3d::Cell total_;
  Outcome outcome_;
  std::vector<double> times_;
};

Result<Outcome> run(const Options& options, std::uint32_t& ranks) {
  auto runtime = wic::Runtime::create(options.runtime());
  if (!runtime) return runtime.error();
  if (!(*runtime)->warning().empty()) std::fprintf(stderr, "c_h3d: %s\n", (*runtime)->warning().c_str());
  auto ring = Ring::make(**runtime, options.size, options.threads);
  if (!ring) return ring.error();
  ranks = (*ring)->domain().ranks;
  return Program(**ring, options).run();
}

// What is wrong, in lines of its own below the result's.
void explain(const Outcome& outcome) {
  if (outcome.trouble.missed != 0) {
    std::printf("c_h3d: %u deadlines passed in iteration %u; raise --timeout if the machine is busy\n",
                outcome.trouble.missed, outcome.iterations);
  }
  if (outcome.trouble.overruns != 0) std::printf("c_h3d: %u messages were overwritten\n", outcome.trouble.overruns);
  if (!outcome.cells.ok()) {
    std::printf("c_h3d: %zu wrong cells; %s\n", outcome.cells.wrong, outcome.cells.first.c_str());
  }
  if (!outcome.total_kept) std::printf("c_h3d: the sum of all cells has changed\n");
}

int report(const Options& options, std::uint32_t ranks, const Outcome& outcome) {
  const std::uint64_t bytes = ranks * sample::h3d::cells_sent(options.size) * sizeof(sample::h3d::Cell);
  std::printf("c_h3d: %u iterations on %s, %u ranks of %u^3 cells, iteration p50 %.1f us, %u messages (%.1f KiB) an "
              "iteration, ",
              outcome.iterations, options.devices.c_str(), ranks, options.size, outcome.iteration_us,
              ranks * sample::h3d::kMessages, static_cast<double>(bytes) / 1024);
  if (!outcome.ok()) {
    std::printf("FAILED\n");
    explain(outcome);
    return 1;
  }
  if (outcome.checked_from == 0) {
    std::printf("every iteration checked, ok\n");
  } else {
    std::printf("last %u checked cell by cell and all by their sum, ok\n", outcome.iterations - outcome.checked_from);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"c_h3d: the halo exchange of a periodic 3-D cube between the CPU and devices.\n"
               "Example: wic-prof run --schedule poll:2s,park:2s -- c_h3d --devices cuda:0 --seconds 4"};
  Options options;
  sample::add_options(app, options);
  app.add_option("-n,--size", options.size, "cells along each side of a rank's cube (default: 16, on GPUs 192)")
      ->check(CLI::Range(1u, 512u));
  app.add_option("-t,--threads", options.threads, "threads of the CPU's rank")
      ->check(CLI::Range(1u, 256u))
      ->capture_default_str();
  app.add_option("--check", options.check, "when to compare with the reference: at the end, or after every iteration")
      ->check(CLI::IsMember({"end", "every"}))
      ->capture_default_str();
  if (const auto status = sample::parse(app, argc, argv)) return *status;
  if (options.size == 0) options.size = options.on_gpu() ? 192 : 16;

  try {
    std::uint32_t ranks = 0;
    const auto outcome = run(options, ranks);
    if (!outcome) return sample::fail("c_h3d", outcome.error());
    return report(options, ranks, *outcome);
  } catch (const std::bad_alloc&) {
    return sample::fail("c_h3d", wicprof::unavailable("not enough memory; choose a smaller --size"));
  }
}
