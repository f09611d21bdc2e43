#include "reports/parts/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "analyzer/trace/modes.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/words/format.h"
#include "protocol/shell_words.h"
#include "protocol/trace_words.h"
#include "reports/parts/hang.h"
#include "reports/parts/phrases.h"
#include "reports/parts/verdict.h"

namespace wicprof::reports {
namespace {

/// What runs may take where the first were too short to tell.
constexpr char kLonger[] = "--for 5m ";
/// Parked waits that take at most this share of the CPU time free CPUs. Not calibrated.
constexpr double kFreed = 0.5;

bool counts(const Finding& finding) { return finding.severity != Severity::info; }

/// Of what costs something the worst, else the first that counts at all.
const Finding* worst_of(const std::vector<Finding>& findings) {
  const auto costs = [](const Finding& finding) { return counts(finding) && finding.cost; };
  auto found = std::find_if(findings.begin(), findings.end(), costs);
  if (found == findings.end()) found = std::find_if(findings.begin(), findings.end(), counts);
  return found == findings.end() ? nullptr : &*found;
}

std::string row_of(const Finding& finding) {
  return fmt::format("finding {}: {}", rule_with_cost(finding), one_line(finding.evidence));
}

/// "It costs at most 12.5 % of the time."
std::string cost_sentence(const Finding& finding) {
  return finding.cost ? fmt::format("It costs at most {}.", cost_text(*finding.cost))
                      : std::string("The trace does not show what it costs.");
}

std::string what_of(const Trial& trial) {
  if (trial.side == WaitSide::host) return "the waits of host threads in calls of CUDA";
  return trial.patched ? "the patched waiting loops of the program's kernels" : "the waits at the program's wait sites";
}

std::string ratio_row(const Comparison& comparison) {
  std::string row = fmt::format("compare: {}", verdict_name(comparison.verdict));
  if (const auto& ratio = comparison.speedup) {
    row += fmt::format("; time of {} over time of {}: {:.4g} ({:.4g} to {:.4g})", comparison.before.label,
                       comparison.after.label, ratio->value, ratio->low, ratio->high);
  }
  return row;
}

/// What --trace takes to record the like; a trace from elsewhere may hold anything.
std::string sources_of(const TraceModel& model) {
  std::string list;
  std::istringstream words(model.meta_value(store::MetaKey::trace));
  for (std::string word; std::getline(words, word, ',');) {
    if (is_trace_word(word)) list += (list.empty() ? "" : ",") + word;
  }
  return list.empty() ? std::string(kDefaultTrace) : list;
}

class Answer {
 public:
  explicit Answer(const WhyInput& input) : in_(input) {
    why_.cause = worst_of(in_.analysis.findings);
    trial_ = what_to_try(in_.analysis);
    if (trial_) why_.tried = trial_->finding;
  }

  Why take() {
    say_what_ran();
    if (const std::optional<Hang> hang = hang_of(in_.model); hang && in_.tried == nullptr) return why_it_hung(*hang);
    say_what_weakens();
    if (why_.cause != nullptr) {
      say_cause();
    } else if (!failed()) {
      say_no_cause();
    }
    say_what_was_tried();
    say_result();
    return std::move(why_);
  }

 private:
  /// Whatever else costs something.
  Why why_it_hung(const Hang& hang) {
    why_.cause = why_.tried = nullptr;
    say("cause", fmt::format("The program hung: {}.", hang.text), {"stuck: " + hang.kind});
    run_next("All that waited then", hang.command);
    return std::move(why_);
  }

  void say(std::string_view about, std::string text, std::vector<std::string> backing) {
    why_.sentences.push_back({about, std::move(text), std::move(backing)});
  }

  void run_next(std::string title, std::string command) {
    why_.command_title = std::move(title);
    why_.command = std::move(command);
  }

  bool failed() const { return in_.recorded != nullptr && !in_.recorded->failure.empty(); }
  std::string run_time() const {
    const std::optional<Interval> run = recorded_run(in_.model);
    return run ? " after " + format_duration(run->end - run->begin) : std::string();
  }

  /// `wic-prof why` with the program's own words, and what the trace records; empty where the trace does not say.
  std::string ask_again(std::string options) const {
    const std::string words = safe_command(in_.model.meta_value(store::MetaKey::command));
    const std::string sources = sources_of(in_.model);
    if (options.find("--trace") == options.npos && sources != kDefaultTrace) options += "--trace=" + sources + " ";
    return words.empty() ? words : fmt::format("wic-prof why {}-- {}", options, words);
  }

  void say_what_ran() {
    const WhyRun* const run = in_.recorded;
    if (run == nullptr || (run->failure.empty() && !run->interrupted)) return;
    if (failed()) {
      say("run", fmt::format("The program failed: it {}{}.", run->failure, run_time()), {run->command});
    } else {
      say("run", fmt::format("The recording was interrupted{}, so the answer covers that part.", run_time()),
          {run->command});
    }
  }

  /// What may make the answer wrong.
  void say_what_weakens() {
    for (const Finding& finding : in_.analysis.findings) {
      if (finding.cost || !counts(finding) || &finding == why_.cause) continue;
      say("caution", fmt::format("Mind that {}.", one_line(finding.text)), {row_of(finding)});
    }
    if (!in_.not_seen.empty())
      say("caution", fmt::format("Mind that {}.", one_line(in_.not_seen)), {in_.recorded->command});
  }

  void say_cause() {
    const Finding& cause = *why_.cause;
    say("cause",
        fmt::format("What costs most{} is that {}. {}", failed() ? " until then" : "", one_line(cause.text),
                    cost_sentence(cause)),
        {row_of(cause)});
    if (why_.tried == &cause) return;
    say("remedy", fmt::format("What to do about that: {}.", one_line(cause.remedy)),
        {fmt::format("finding {}: nothing that wic-prof can switch while the program runs", cause.rule)});
    if (!cause.command.empty()) run_next("Next", one_line(cause.command));
    if (why_.tried == nullptr) return;
    say("also", fmt::format("Beside that, {}. {}", one_line(why_.tried->text), cost_sentence(*why_.tried)),
        {row_of(*why_.tried)});
  }

  void say_no_cause() {
    const TraceVerdict verdict = trace_verdict(in_.model, in_.analysis);
    const bool open = verdict.tone == Tone::open;
    std::vector<std::string> backing;
    for (const Finding& finding : in_.analysis.findings) backing.push_back(row_of(finding));
    for (const Refusal& refusal : in_.analysis.refusals)
      backing.push_back(fmt::format("not looked at: {}: {}", refusal.rule, one_line(refusal.reason)));
    if (backing.empty()) backing.emplace_back("findings: none");
    say("cause",
        fmt::format("{}: {}.",
                    open ? "Why the program is slow is unknown" : "No wait is known to make the program slow",
                    verdict.headline),
        std::move(backing));
    if (!verdict.detail.empty())
      say("detail", verdict.detail + (verdict.detail.ends_with('.') ? "" : "."), {"analyze: the verdict"});
    for (const DeviceBusy& device : in_.analysis.devices) {
      say("detail",
          fmt::format("{} was idle for {} of {}.", one_line(in_.model.device_name(device.device)),
                      format_percent(device.idle()), format_duration(device.of_ns)),
          {"analyze: kernels and copies of the device"});
    }
    for (const Refusal& refusal : in_.analysis.refusals) {
      if (refusal.rule != "polling_kernel" || in_.model.kernels.empty()) continue;
      say("detail", fmt::format("Which kernels poll is not known: {}.", one_line(refusal.reason)),
          {fmt::format("not looked at: {}", refusal.rule)});
      run_next("To find out", ask_again("--trace=cuda,nvtx,pcsampling "));
    }
  }

  void say_what_was_tried() {
    if (in_.tried != nullptr) {
      say("tried", fmt::format("A second run let {} poll and park in turn.", what_of(trial_->trial)),
          {in_.tried->command});
    } else if (in_.comparison != nullptr) {
      say("tried", fmt::format("The trace has {} polled as well as parked.", what_of(trial_of_trace())),
          {fmt::format("wic-prof compare: {}", count_of(in_.comparison->segments.size(), "segment"))});
    } else if (!in_.not_compared.empty()) {
      say("tried", fmt::format("Nothing was tried, since {}.", in_.not_compared), {in_.recorded->command});
      if (!failed()) run_next("To try it", ask_again(""));
    } else if (why_.tried != nullptr) {
      say_how_to_try();
    } else if (why_.cause != nullptr) {
      say("tried", "Nothing was tried, since no finding names a remedy that wic-prof can switch.",
          {"findings: no command that lets waits park"});
    }
  }

  /// Of a trace.
  void say_how_to_try() {
    // The loops of a patched program are no findings unless they are patched again, or sampled.
    const bool again = is_patched(in_.model) && trial_->trial.patched;
    run_next("To try it", again ? run_command(in_.model, trial_options(trial_->trial, "--ab")) : ask_again(""));
    say("tried",
        why_.command.empty() ? "Nothing was tried, since this trace does not say how the program is started."
                             : "Nothing was tried, since a trace can only be read; the command below runs the program "
                               "and lets these waits park.",
        {fmt::format("finding {}: {}", why_.tried->rule, one_line(why_.tried->remedy))});
    if (trial_->trial.side != WaitSide::host && !trial_->trial.patched) say_expected();
  }

  void say_expected() {
    const std::string detail = trace_verdict(in_.model, in_.analysis).detail;
    if (!detail.empty()) say("expected", detail, {"analyze: the prediction from the polled times"});
  }

  Trial trial_of_trace() const {
    if (in_.comparison->host_side) return {WaitSide::host, false, {}};
    return {WaitSide::device, is_patched(in_.model), {}};
  }

  void say_result() {
    if (in_.tried != nullptr && in_.comparison == nullptr) return say_not_compared(in_.not_compared);
    if (in_.comparison == nullptr) return;
    const Comparison& comparison = *in_.comparison;
    if (!comparison.speedup) return say_not_compared(comparison.reason);
    const Trial trial = in_.tried != nullptr ? trial_->trial : trial_of_trace();
    std::vector<std::string> backing = {ratio_row(comparison)};
    if (!comparison.timed.empty()) backing.push_back("unit: " + one_line(comparison.timed));
    if (!comparison.estimator.empty()) backing.push_back("estimator: " + one_line(comparison.estimator));
    say("result",
        fmt::format("{}: {} (timed: {}).", judged(comparison.verdict), one_line(comparison.reason),
                    one_line(comparison.measured_at)),
        std::move(backing));
    for (const std::string& note : comparison.notes)
      say("caution", fmt::format("Mind that {}.", one_line(note)), {"compare: its notes"});
    if (in_.tried != nullptr && in_.tried->interrupted)
      say("caution", "You interrupted the comparison, so it is shorter than planned.", {in_.tried->command});
    say_device(comparison, trial);
    const bool frees = say_cpus(comparison);
    say_advice(comparison, trial, frees);
  }

  void say_device(const Comparison& comparison, const Trial& trial) {
    const std::vector<store::DeviceRow>& devices = in_.model.devices;
    const auto simulated = std::find_if(devices.begin(), devices.end(),
                                        [](const auto& device) { return device.kind == DeviceKind::simt; });
    if (comparison.gpu || trial.side == WaitSide::host || simulated == devices.end()) return;
    say("caution", "The kernels ran on the CPU device, so that these figures say nothing about a GPU.",
        {fmt::format("device: {}", one_line(simulated->name))});
  }

  static std::string_view judged(Verdict verdict) {
    switch (verdict) {
      case Verdict::improvement:
        return "Parking made the program faster";
      case Verdict::regression:
        return "Parking made the program slower";
      case Verdict::no_change:
        return "Parking made no difference that counts";
      case Verdict::inconclusive:
        break;
    }
    return "Whether parking helps remains open";
  }

  void say_not_compared(std::string_view reason) {
    say("result", fmt::format("What parking brings is unknown: {}.", one_line(reason)),
        {in_.comparison != nullptr ? ratio_row(*in_.comparison) : in_.tried->command});
    if (in_.tried == nullptr || !in_.tried->failure.empty() || in_.tried->interrupted || !in_.tried->attached) return;
    if (in_.comparison != nullptr && in_.comparison->why == "no iterations") return;  // nor has a longer run any
    if (in_.tried->cut) return run_next("To settle it", ask_again(kLonger));
    run_next("To settle it", run_command(in_.model, trial_options(trial_->trial, "--ab --repeat 6")));
  }

  /// CPU time of the host threads that wait. Returns whether parking frees it.
  bool say_cpus(const Comparison& comparison) {
    const std::vector<SiteDifference>& sites = comparison.differences.sites;
    const auto site = std::find_if(sites.begin(), sites.end(),
                                   [](const SiteDifference& each) { return each.before_cpu && each.after_cpu; });
    if (!comparison.host_side || site == sites.end()) return false;
    say("cpus",
        fmt::format("A thread that waits in {} took {:.2f} of a CPU polled and {:.2f} parked.",
                    one_line(name_at(site->site, site->place)), *site->before_cpu, *site->after_cpu),
        {fmt::format("compare, sites: {} waits polled, {} parked", format_count(site->before_count),
                     format_count(site->after_count))});
    return *site->after_cpu <= kFreed * *site->before_cpu;
  }

  void say_advice(const Comparison& comparison, const Trial& trial, bool frees) {
    const bool host = trial.side == WaitSide::host;
    const bool saves_cpus = host && frees && comparison.verdict == Verdict::no_change;
    if (comparison.verdict == Verdict::inconclusive) {
      say("advice", "Compare for longer before you change anything.", {ratio_row(comparison)});
      return run_next("To settle it", one_line(comparison.settle));
    }
    if (comparison.verdict != Verdict::improvement && !saves_cpus) {
      say("advice", "Leave these waits as they are.", {ratio_row(comparison)});
      return;
    }
    const std::string_view begin =
        saves_cpus ? "Where a CPU limit, other threads or other programs need these CPUs, let the waits park"
                   : "Keep the waits parked";
    say("advice", fmt::format("{}: {}.", begin, how_to_keep(trial)), {ratio_row(comparison)});
    const std::string_view side = host ? "--mode park --keep-last 1m" : "--mode park --side device --keep-last 1m";
    run_next("To keep it", run_command(in_.model, trial_options(trial, side)));
  }

  std::string how_to_keep(const Trial& trial) const {
    if (trial.patched)
      return "wait through wic::wait_until in these loops (wic-prof explain wait_until), or start the program by the "
             "command below";
    if (trial.side != WaitSide::host)
      return trial.strategy ? fmt::format(
                                  "let the program begin with its runtime's set_wait(), wic::Mode::park and "
                                  "the strategy {}, or start the program by the command below",
                                  strategy_name(*trial.strategy))
                            : "let the program's runtime begin with wic::Mode::park (RuntimeOptions::mode), or start "
                              "the program by the command below";
    if (is_python(in_.model)) return "start the program in the deployment by the command below";
    return "start the program in the deployment by the command below; CUDA's own sleeping waits "
           "(cudaSetDeviceFlags with cudaDeviceScheduleBlockingSync, before the first other call) were not tried";
  }

  const WhyInput& in_;
  Why why_;
  std::optional<WhyTrial> trial_;
};

}  // namespace

std::string Why::paragraph() const {
  std::string text;
  for (const WhySentence& sentence : sentences) text += (text.empty() ? "" : " ") + sentence.text;
  return text;
}

std::optional<WhyTrial> what_to_try(const Analysis& analysis) {
  std::vector<const Finding*> candidates = {worst_of(analysis.findings)};
  for (const Finding& finding : analysis.findings) candidates.push_back(&finding);
  for (const Finding* const finding : candidates) {
    if (finding == nullptr || !counts(*finding)) continue;
    for (const std::string& command : {finding->command, finding->remedy}) {
      if (const std::optional<Trial> trial = trial_of(command)) return WhyTrial{finding, *trial};
    }
  }
  return std::nullopt;
}

Why explain_why(const WhyInput& input) { return Answer(input).take(); }

}  // namespace wicprof::reports
