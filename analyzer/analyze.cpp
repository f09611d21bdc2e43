#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/measure/tasks.h"
#include "analyzer/rules/list.h"
#include "analyzer/words/format.h"
#include "store/format/stat_list.h"

namespace wicprof::analyzer {
namespace {

void apply_rules(const TraceModel& model, Analysis& analysis) {
  const RuleInput input{model,          analysis.sites,   analysis.polling_loops,
                        analysis.wakes, analysis.kernels, analysis.host_polling};
  for (const Rule& rule : kRules) {
    RuleOutcome outcome = rule.apply(input);
    if (!outcome.refused.empty()) analysis.refusals.push_back({std::string(rule.name), std::move(outcome.refused)});
    for (Finding& finding : outcome.findings) {
      finding.rule = rule.name;
      analysis.findings.push_back(std::move(finding));
    }
  }
  std::stable_sort(analysis.findings.begin(), analysis.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

/// "ring_dropped: 1,234 (ring 0): events dropped because ...".
std::string loss_line(const store::StatRow& stat) {
  std::string line = one_line(stat.name);
  if (stat.value > 0) line += ": " + format_count(static_cast<std::uint64_t>(stat.value));
  if (!stat.detail.empty()) line += fmt::format(" ({})", one_line(stat.detail));
  const auto known = std::find_if(store::kStats.begin(), store::kStats.end(),
                                  [&](const auto& info) { return info.name == stat.name; });
  if (known != store::kStats.end()) line += fmt::format(": {}", known->meaning);
  return line;
}

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

std::vector<Loss> losses(const TraceModel& model) {
  std::vector<Loss> list;
  if (!model.complete) list.push_back({"incomplete", {}, 0, model.incomplete_reason});
  for (const store::StatRow& stat : model.stats) {
    const bool lost = stat.severity == store::StatRow::Severity::data_loss && stat.value > 0;
    const bool failed = stat.severity == store::StatRow::Severity::error;
    if (!lost && !failed) continue;
    list.push_back({stat.name, stat.detail, stat.value, loss_line(stat)});
  }
  return list;
}

Analysis analyze(const TraceModel& model) {
  Analysis analysis;
  const Modes modes(model);
  Tasks tasks;

  // In an order in which little is held at a time: of a large trace, each of these is a good part of the trace's size.
  std::optional<Matching> matching;
  std::optional<DeviceWork> work;
  tasks.add([&] { matching = match(model); });
  tasks.add([&] {
    work.emplace(model);
    analysis.clocks = clock_bounds(model, *work);
    analysis.stream_waits = stream_waits(model, *work);
  });
  tasks.add([&] {
    analysis.stalls = gather_stalls(model);
    analysis.polling_loops = find_polling_loops(model, analysis.stalls);
  });
  tasks.add([&] { analysis.kernels = kernel_stats(model); });
  tasks.add([&] { analysis.host_waits = host_wait_stats(model); });
  tasks.add([&] { analysis.host_polling = host_polling(model); });
  tasks.add([&] {
    analysis.threads = thread_stats(model);
    analysis.own_cost = own_cost(model, analysis.threads);
  });
  tasks.run();

  std::optional<Waiters> waiters;
  std::optional<WaitKernels> kernels;
  tasks.add([&] {
    analysis.path = critical_path(model, *matching, *work);
    work.reset();
    kernels.emplace(model, waiters.emplace(model));
  });
  tasks.add([&] { analysis.classification = classify(model, *matching); });
  tasks.run();

  const std::vector<WakeStats> wakes = std::move(matching->sites);
  tasks.add([&] {
    const WaitModel waits(model, *matching, *waiters, modes);
    analysis.site_waits = waits.sites();
    analysis.polled = waits.whole(Mode::poll);
    analysis.parked = waits.whole(Mode::park);
    matching.reset();
  });
  tasks.add([&] { analysis.sites = site_stats(model, *waiters); });
  tasks.add([&] { analysis.overlaps = overlap(model, *waiters, *kernels, modes); });
  tasks.add([&] { analysis.interference = interference(model, *waiters, *kernels, modes); });
  tasks.add([&] {
    std::vector<Iterations> iterations = find_iterations(model, *waiters);
    if (!iterations.empty()) analysis.iterations = std::move(iterations.front());
  });
  tasks.run();

  analysis.wakes = in_order_of(analysis.sites, wakes);
  tasks.add([&] { analysis.prediction = predict(model, analysis.path, modes, analysis.sites); });
  tasks.add([&] { apply_rules(model, analysis); });
  tasks.run();
  analysis.loss = losses(model);
  return analysis;
}

}  // namespace wicprof::analyzer
