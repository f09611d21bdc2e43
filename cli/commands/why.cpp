// wic-prof why: why a program is slow, in one paragraph: records it, tries the remedy of what costs most, and answers.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/modes.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/files/output_file.h"
#include "cli/files/output_name.h"
#include "cli/record/ab_options.h"
#include "cli/record/capture.h"
#include "cli/record/run_app.h"
#include "cli/record/stop_signal.h"
#include "cli/record/terminal_signals.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "cli/terminal/screen.h"
#include "protocol/shell_words.h"
#include "reports/json/why_json.h"
#include "reports/text/why_text.h"

namespace wicprof::cli {

namespace {

struct WhyOptions {
  std::string file;  ///< a trace; empty: run the program
  std::string time = "30s", trace, output, format = "text";
  bool overwrite = false, verbose = false;
};

/// Finer than with `run --ab`, since the time of --for is there for the answer: an interval of 1 % to either side
/// leaves changes of 1 to 3 % open.
constexpr double kPrecision = 0.005;

/// As long as this exists, programs that wic-prof starts have stderr for their stdout.
class StdoutToStderr {
 public:
  explicit StdoutToStderr(bool wanted) : kept_(wanted ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1) {
    if (kept_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  StdoutToStderr(const StdoutToStderr&) = delete;
  StdoutToStderr& operator=(const StdoutToStderr&) = delete;
  ~StdoutToStderr() {
    if (kept_ < 0) return;
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }

 private:
  int kept_;
};

/// What a run left, for the answer.
struct RecordedRun {
  RunOutcome outcome;
  reports::WhyRun facts;
};

/// `words`: the options of `wic-prof run` that record the same.
Result<RecordedRun> record(const WhyOptions& options, RunPlan plan, const CaptureOptions& capture,
                           const std::string& words, TerminalSignals& signals) {
  Result<CapturePlan> read = read_capture(capture);
  if (!read) return read.error();
  plan.capture = *std::move(read);
  const StdoutToStderr apart(options.format == "json");
  const Result<RunOutcome> outcome = run_app(plan, signals);
  if (!outcome) return outcome.error();
  if (outcome->recording) warn("THE TRACE IS INCOMPLETE: " + outcome->recording->message);
  reports::WhyRun facts;
  facts.command =
      fmt::format("wic-prof run {} -o {} -- {}", words, shell_word(outcome->trace), shell_command(plan.words));
  facts.interrupted = outcome->interrupted.has_value();
  if (!facts.interrupted) facts.failure = outcome->failure();
  facts.cut = outcome->ended_as_planned;
  facts.attached = outcome->attached;
  return RecordedRun{*outcome, facts};
}

RunPlan plan_of(const WhyOptions& options, const ProgramWords& program) {
  RunPlan plan;
  plan.words = program;
  plan.output = options.output.empty() ? usual_trace_name(program.front()) : options.output;
  plan.overwrite = options.overwrite;
  plan.stop_signal = SIGTERM;
  plan.quiet = isatty(STDERR_FILENO) == 0;
  return plan;
}

Result<RecordedRun> first_run(const WhyOptions& options, const RunPlan& plan, TerminalSignals& signals) {
  CaptureOptions capture;
  capture.trace = options.trace;
  capture.duration = options.time;
  if (!plan.quiet) note(fmt::format("the first run looks for what costs most, for at most {}", options.time));
  const std::string sources = options.trace.empty() ? "" : fmt::format("--trace={} ", shell_word(options.trace));
  return record(options, plan, capture, fmt::format("{}--duration {} --kill TERM", sources, options.time), signals);
}

/// `time`: the longest for the comparison.
Result<RecordedRun> second_run(const WhyOptions& options, RunPlan plan, const analyzer::Trial& trial, TimeNs time,
                               TerminalSignals& signals) {
  CaptureOptions capture;
  capture.rewrite = trial.patched;
  AbOptions ab;
  const bool all = time == *read_ab_time(options.time);
  ab.time = all ? options.time : fmt::format("{}ms", std::max<TimeNs>(1, time / kMillisecond));
  ab.precision = precision_text(kPrecision);
  if (trial.strategy) ab.strategy = strategy_name(*trial.strategy);
  ab.side = side_name(trial.side);
  ab.patched = trial.patched;
  ab.end_program = true;
  const Result<AbPlan> modes = read_ab(ab);
  if (!modes) return modes.error();
  plan.output = numbered(plan.output, "ab");
  plan.compare(*modes);
  plan.side = trial.side;
  if (!plan.quiet) note("the second run lets the program's waits poll and park in turn, for at most " + ab.time);
  return record(
      options, std::move(plan), capture,
      analyzer::trial_options(trial, fmt::format("--ab --for {} --precision {} --end", ab.time, ab.precision)),
      signals);
}

std::string why_not_compared(const RecordedRun& tried, const analyzer::Trial& trial) {
  const RunOutcome& outcome = tried.outcome;
  if (!tried.facts.failure.empty()) {
    return fmt::format("the program {} in the second run, and not in the first; whether parking is the reason is open",
                       tried.facts.failure);
  }
  if (outcome.interrupted) return "you interrupted the second run before both ways were compared";
  if (outcome.attached) {
    return fmt::format("{} before both ways were compared",
                       tried.facts.cut ? "the time was over" : "the program ended");
  }
  if (trial.side == WaitSide::host) return "no host thread waited in a call of CUDA that wic-prof records";
  return trial.patched ? "no waiting loop was patched in the second run (wic-prof rewrite says why)"
                       : "the program started no wic runtime in the second run";
}

std::optional<analyzer::Comparison> both_ways(const analyzer::TraceModel& model) {
  if (!analyzer::Modes(model).both()) return std::nullopt;
  analyzer::Comparison comparison = analyzer::compare(model);
  return comparison.both_modes ? std::optional(std::move(comparison)) : std::nullopt;
}

std::optional<analyzer::Comparison> comparison_of(const RecordedRun& tried) {
  if (!tried.outcome.compared || !tried.facts.failure.empty()) return std::nullopt;
  const Result<analyzer::TraceModel> model = load_trace(tried.outcome.trace);
  return model ? both_ways(*model) : std::nullopt;
}

/// The program has stdout for itself, so that a text about it goes to stderr.
int answer(const WhyOptions& options, const reports::WhyInput& input, const std::vector<std::string>& traces) {
  const reports::Why why = reports::explain_why(input);
  if (options.format == "json") return print_answer(reports::why_json(why, input.comparison, traces));
  const int fd = input.recorded != nullptr ? STDERR_FILENO : STDOUT_FILENO;
  const std::string text = reports::why_text(why, traces, options.verbose, screen_of(fd));
  if (fd == STDOUT_FILENO) return print_answer(text);
  show(text);
  return kDone;
}

int why_of_trace(const WhyOptions& options) {
  const Result<analyzer::TraceModel> model = load_trace(options.file);
  if (!model) {
    std::error_code unknown;
    const bool program =
        std::filesystem::is_regular_file(options.file, unknown) && access(options.file.c_str(), X_OK) == 0;
    return fail({model.error().kind,
                 model.error().message + (program ? "; a program follows --: wic-prof why -- APP ARGS..." : "")});
  }
  const analyzer::Analysis analysis = analyzer::analyze(*model, analyzer::Parties::left_out);
  const std::optional<analyzer::Comparison> comparison = both_ways(*model);
  return answer(options, {.model = *model, .analysis = analysis, .comparison = comparison ? &*comparison : nullptr},
                {});
}

int why_of_program(const WhyOptions& options, const ProgramWords& program) {
  const Result<TimeNs> longest = read_ab_time(options.time);
  if (!longest) return fail(longest.error());
  const RunPlan plan = plan_of(options, program);
  if (plan.output == "-") return fail(bad_input("a trace is a database and cannot go to stdout; name a file with -o"));
  const Result<Output> second_name = prepare_output({numbered(plan.output, "ab"), options.overwrite});
  if (!second_name) return fail(second_name.error());

  TerminalSignals signals;
  const Result<RecordedRun> first = first_run(options, plan, signals);
  if (!first) return fail(first.error());
  int status = first->outcome.status();
  const Result<analyzer::TraceModel> model = load_trace(first->outcome.trace);
  if (!model) return std::max(fail(model.error()), status);
  const analyzer::Analysis analysis = analyzer::analyze(*model, analyzer::Parties::left_out);
  reports::WhyRun recorded = first->facts;
  recorded.interrupted = recorded.interrupted || signals.has_request();
  reports::WhyInput input{.model = *model, .analysis = analysis, .recorded = &recorded};
  input.not_seen = first->outcome.out_of_session;
  std::vector<std::string> traces = {first->outcome.trace};

  const std::optional<reports::WhyTrial> trial = reports::what_to_try(analysis);
  std::optional<RecordedRun> second;
  std::optional<analyzer::Comparison> comparison;
  if (!recorded.failure.empty()) {
    input.not_compared = "a program that fails cannot be compared with itself";
  } else if (recorded.interrupted) {
    input.not_compared = "you interrupted the first run";
  } else if (trial) {
    const std::optional<analyzer::Interval> took = analyzer::recorded_run(*model);
    // Of a program that ends by itself, the second run is no longer than the first.
    const TimeNs time = took && !recorded.cut ? std::min(*longest, took->end - took->begin) : *longest;
    Result<RecordedRun> run = second_run(options, plan, trial->trial, time, signals);
    if (run) {
      second = *std::move(run);
      status = second->outcome.status();
      input.tried = &second->facts;
      traces.push_back(second->outcome.trace);
      comparison = comparison_of(*second);
      if (!comparison) input.not_compared = why_not_compared(*second, trial->trial);
    } else {
      status = fail(run.error());
      input.not_compared = "the second run could not begin";
    }
    if (comparison) input.comparison = &*comparison;
  }
  signals.end_with(status);
  const int answered = answer(options, input, traces);
  return status != kDone ? status : answered;
}

int why(const WhyOptions& options, const ProgramWords& program) {
  if (program.empty() && options.file.empty()) {
    return fail(bad_input("why needs a program or a trace: wic-prof why -- APP ARGS..., or wic-prof why TRACE"));
  }
  if (program.empty() && (options.overwrite || !options.output.empty() || !options.trace.empty())) {
    return fail(bad_input("-o, -f and --trace are about runs; of a trace, the answer goes to stdout: leave them out"));
  }
  if (program.empty()) return why_of_trace(options);
  if (!options.file.empty()) {
    return fail(bad_input(fmt::format("why takes a program or a trace; leave {} out, or the program", options.file)));
  }
  return why_of_program(options, program);
}

}  // namespace

template <>
VerbBody declare<struct WhyVerb>(CLI::App& verb, const ProgramWords& program) {
  const auto options = std::make_shared<WhyOptions>();
  verb.add_option("TRACE", options->file, "a trace (.wicprof) to read; nothing runs then, and nothing is tried");
  verb.add_option("--for", options->time,
                  "how long each of the two runs may take (ms, s, m): the one that looks for what costs most, from the "
                  "program's start on, and the one that tries the remedy, from the first wait on. A program that runs "
                  "for longer is ended by SIGTERM")
      ->type_name("TIME")
      ->capture_default_str();
  verb.add_option("--trace", options->trace,
                  "what the first run records, as with run; pcsampling shows which kernels poll")
      ->type_name("LIST");
  verb.add_option("-o,--output", options->output,
                  "the trace of the first run; that of the second is NAME.ab.wicprof; default: APP.%p.wicprof in the "
                  "current folder, as with run")
      ->type_name("FILE");
  verb.add_flag("-f,--force-overwrite", options->overwrite, "overwrite the traces if they exist");
  verb.add_flag("--verbose", options->verbose, "below each sentence what it rests on: finding, figures, command");
  add_format(verb, options->format);
  add_example(verb, "wic-prof why -- ./halo --size 256");
  return [options, &program] {
    prepare_for_programs();
    return why(*options, program);
  };
}

}  // namespace wicprof::cli
