#include "reports/parts/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "analyzer/rules/list.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "reports/parts/hang.h"
#include "reports/parts/phrases.h"

namespace wicprof::reports {
namespace {

/// More than this many kinds of problems are counted instead of named.
constexpr std::size_t kNamedProblems = 2;

/// A comparison counts less than 2 % as no change.
constexpr double kNoGain = 0.02;

constexpr std::string_view kSamplingWord = "pcsampling";

bool is_serious(const Finding& finding) { return finding.severity != Severity::info; }

/// What the rule looks for, in the words of the list of rules.
std::string_view what_of(const Finding& finding) {
  const auto rule =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& each) { return each.name == finding.rule; });
  return rule == std::end(kRules) ? std::string_view(finding.rule) : rule->what;
}

struct Problem {
  std::string_view what;
  std::optional<Cost> cost;  ///< of the worst finding of the kind, or of all where they keep CPUs busy
};

/// What costs most first.
std::vector<Problem> problems_of(const std::vector<Finding>& findings) {
  std::vector<Problem> kinds;
  for (const Finding& finding : findings) {
    if (!is_serious(finding)) continue;
    const std::string_view what = what_of(finding);
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Problem& kind) { return kind.what == what; });
    if (known == kinds.end()) {
      kinds.push_back({what, finding.cost});
    } else if (known->cost && finding.cost && finding.cost->unit == Cost::Unit::cpus) {
      known->cost->amount += finding.cost->amount;
    }
  }
  return kinds;
}

/// "many waiters poll one word at once (97 % of the time); host threads that burn CPU time while they wait (0.9 CPUs)".
std::string headline_of(const std::vector<Problem>& kinds) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamedProblems, kinds.size()); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : "; ", kinds[i].what);
    if (kinds[i].cost) text += fmt::format(" ({})", cost_text(*kinds[i].cost));
  }
  if (kinds.size() > kNamedProblems)
    text += fmt::format("; and {} more", count_of(kinds.size() - kNamedProblems, "kind"));
  return text;
}

std::string waiting_words(const Analysis& analysis) {
  if (analysis.sites.empty()) return {};
  const SiteStats& site = analysis.sites.front();
  return fmt::format("A waiter spends {} of its time at {}.", format_percent(site.share), one_line(site.name));
}

std::string prediction_words(const Prediction& prediction) {
  if (const auto& gain = prediction.program) {
    if (std::abs(gain->value - 1) < kNoGain) {
      return fmt::format("Parking is predicted to change nothing (interval of the run's time: {}).",
                         change_interval_text(predicted_change(*gain)));
    }
    return fmt::format("Parked, the run is predicted to be {} (interval: {}).", comparative_text(1 / gain->value),
                       change_interval_text(predicted_change(*gain)));
  }
  if (prediction.sites.empty() || prediction.reason.empty()) return {};
  if (prediction.bounds) return fmt::format("Parked, the run would be {}.", one_line(prediction.reason));
  return fmt::format("What parking would gain is not predicted: {}.", one_line(prediction.reason));
}

std::string joined(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : " ", second);
}

TraceVerdict measured_verdict(const Comparison& comparison) {
  TraceVerdict verdict;
  const std::string sides = fmt::format("{} against {}", comparison.after.label, comparison.before.label);
  const std::string change =
      comparison.speedup ? comparative_text(1 / comparison.speedup->value) : std::string("unknown");
  switch (comparison.verdict) {
    case Verdict::improvement:
      verdict.tone = Tone::good;
      verdict.headline = fmt::format("improvement: {}, iterations are {}", sides, change);
      break;
    case Verdict::regression:
      verdict.tone = Tone::bad;
      verdict.headline = fmt::format("regression: {}, iterations are {}", sides, change);
      break;
    case Verdict::no_change:
      verdict.tone = Tone::good;
      verdict.headline = fmt::format("no change: {}, iterations are {}", sides, change);
      break;
    case Verdict::inconclusive:
      verdict.tone = Tone::open;
      verdict.headline = fmt::format("inconclusive, {}: {}", sides, comparison.why);
      break;
  }
  verdict.detail = one_line(comparison.reason) + ".";
  verdict.command = one_line(comparison.settle);
  verdict.settles = true;
  return verdict;
}

/// What a comparison that decided nothing says beside findings.
std::string open_words(const Comparison& comparison) {
  return fmt::format("What {} brings against {} is open ({}): {}.", comparison.after.label, comparison.before.label,
                     comparison.why, one_line(comparison.reason));
}

/// What brings most: what the worst finding with a command names, else what shows more than this trace.
void take_command(const TraceModel& model, const Analysis& analysis, TraceVerdict& verdict) {
  const std::vector<Finding>& findings = analysis.findings;
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return is_serious(finding) && !finding.command.empty();
  });
  const Prediction& prediction = analysis.prediction;
  const bool sampled = model.meta_value(store::MetaKey::trace).find(kSamplingWord) != std::string::npos;
  if (found != findings.end()) {
    verdict.command = one_line(found->command);
  } else if (prediction.bounds && !prediction.program && model.complete) {
    verdict.command = run_command(model, "--ab");
    verdict.settles = true;
  } else if (analysis.sites.empty() && !model.kernels.empty() && !sampled && model.complete) {
    verdict.command = run_command(model, fmt::format("--trace=cuda,nvtx,{}", kSamplingWord));
  }
}

bool nothing_recorded(const TraceModel& model, const Analysis& analysis) {
  return analysis.sites.empty() && model.kernels.empty() && model.host_waits.empty() && model.calls.empty() &&
         model.pc_totals.empty();
}

/// What is known of a program without a GPU: its sampled threads.
std::string busiest_thread(const TraceModel& model, const Analysis& analysis) {
  const auto of_program = [](const ThreadStats& thread) { return !thread.own && thread.cpu_ns > 0; };
  const auto busiest = std::find_if(analysis.threads.begin(), analysis.threads.end(), of_program);  // most first
  const std::optional<Interval> run = recorded_run(model);
  if (busiest == analysis.threads.end() || !run || run->end <= run->begin) return {};
  return fmt::format(
      "Of {}, {} was on a CPU most: {} of the run.",
      count_of(static_cast<std::uint64_t>(std::count_if(analysis.threads.begin(), analysis.threads.end(), of_program)),
               "sampled thread"),
      ThreadNames(model).of(busiest->process, busiest->thread),
      format_percent(static_cast<double>(busiest->cpu_ns) / static_cast<double>(run->end - run->begin)));
}

}  // namespace

TraceVerdict trace_verdict(const TraceModel& model, const Analysis& analysis, const Comparison* comparison) {
  const std::vector<Finding>& findings = analysis.findings;
  const bool serious = std::any_of(findings.begin(), findings.end(), is_serious);
  const bool measured = comparison != nullptr && comparison->speedup;
  // Who compares two traces asks for what differs, whatever else is found.
  const bool asked = measured && comparison->unit == UnitKind::run;
  if (measured && (asked || comparison->verdict != Verdict::inconclusive || !serious))
    return measured_verdict(*comparison);
  TraceVerdict verdict;
  if (const std::optional<Hang> hang = hang_of(model)) {
    verdict.tone = Tone::bad;
    verdict.headline = "the program hung: " + hang->kind;
    verdict.detail = hang->text + ".";
    verdict.command = hang->command;
    return verdict;
  }
  const auto critical = std::count_if(findings.begin(), findings.end(),
                                      [](const Finding& f) { return f.severity == Severity::critical; });
  if (serious) {
    verdict.tone = critical > 0 ? Tone::bad : Tone::warn;
    const std::vector<Problem> problems = problems_of(findings);
    verdict.headline = headline_of(problems);
    verdict.cost = problems.front().cost;
    verdict.detail =
        joined(waiting_words(analysis), measured ? open_words(*comparison) : prediction_words(analysis.prediction));
    take_command(model, analysis, verdict);
    if (measured && !comparison->settle.empty()) {
      verdict.command = one_line(comparison->settle);
      verdict.settles = true;
    }
    return verdict;
  }
  if (model.is_digest()) {
    const auto refused = std::find_if(analysis.refusals.begin(), analysis.refusals.end(),
                                      [](const Refusal& refusal) { return refusal.rule == "late_rank"; });
    const bool looked = refused == analysis.refusals.end();
    verdict.tone = looked ? Tone::good : Tone::open;
    verdict.headline = looked ? "no rank kept the others waiting much" : "which ranks were late is not known";
    verdict.detail = looked ? "Other problems do not show in digests." : fmt::format("{}.", one_line(refused->reason));
    return verdict;
  }
  if (nothing_recorded(model, analysis)) {
    verdict.headline = "nothing to judge";
    verdict.detail =
        joined(busiest_thread(model, analysis), fmt::format("The trace has {}", why_no_sites(model, analysis)));
    return verdict;
  }
  verdict.tone = Tone::good;
  const bool no_gain = !analysis.sites.empty() && std::any_of(findings.begin(), findings.end(),
                                                              [](const Finding& f) { return f.rule == "no_gain"; });
  verdict.headline = no_gain ? "no problem found, and nothing to gain by parking" : "no problem found";
  verdict.detail = joined(waiting_words(analysis), prediction_words(analysis.prediction));
  if (analysis.sites.empty()) verdict.detail = fmt::format("The trace has {}", why_no_sites(model, analysis));
  take_command(model, analysis, verdict);
  return verdict;
}

}  // namespace wicprof::reports
