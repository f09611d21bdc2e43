// wic-prof attach: records a program that runs already, and lets it go on.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/commands/recording.h"
#include "cli/metrics/address.h"
#include "cli/record/attached_process.h"
#include "cli/record/buffer_size.h"
#include "cli/record/guarded.h"
#include "cli/record/schedule.h"
#include "cli/record/stop_signal.h"
#include "cli/record/terminal_signals.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "protocol/process.h"
#include "protocol/trace_words.h"

namespace wicprof::cli {

namespace {

struct AttachOptions {
  RunPlan plan;
  CaptureOptions capture;
  std::string process, time;
  std::optional<std::string> metrics, otlp;
  std::optional<unsigned long long> buffer_mib;
};

/// What has to begin before the program does.
constexpr std::string_view kNotWhenAttached[] = {"pcsampling", kRewriteWord, kMpiWord, kNcclWord};

Result<> read_options(AttachOptions& options) {
  RunPlan& plan = options.plan;
  if (plan.output == "-") return bad_input("a trace is a database and cannot go to stdout; name a file with -o");
  const Result<pid_t> process = process_to_attach(options.process, plan.join);
  if (!process) return process.error();
  plan.attach = *process;
  plan.words = {executable_name_of(static_cast<std::uint32_t>(*process))};
  Result<CapturePlan> capture = read_capture(options.capture);
  if (!capture) return capture.error();
  plan.capture = *std::move(capture);
  for (const std::string_view word : kNotWhenAttached) {
    const bool asked = word == kMpiWord    ? plan.capture.mpi == RankCapture::asked
                       : word == kNcclWord ? plan.capture.nccl == RankCapture::asked
                                           : plan.capture.collects(word);
    if (!asked) continue;
    return bad_input(fmt::format(
        "attach cannot record '{}', which has to begin before the program does: start it with wic-prof run", word));
  }
  if (!options.time.empty()) {
    const std::optional<TimeNs> time = parse_time(options.time, true);
    if (!time) return bad_input(fmt::format("--for takes a time such as 2s or 500ms, not '{}'", options.time));
    plan.attach_time = *time;
  }
  const Result<MetricsPlan> metrics = parse_metrics_plan(options.metrics, options.otlp);
  if (!metrics) return metrics.error();
  plan.metrics = *metrics;
  if (options.buffer_mib) plan.buffer_bytes = static_cast<std::size_t>(*options.buffer_mib) << 20;
  plan.stop_signal = kNoSignal;
  return ok();
}

void report_left(const RunOutcome& outcome, pid_t pid) {
  if (!outcome.left_running) return note(fmt::format("process {} has ended", pid));
  if (outcome.stays.empty()) return note(fmt::format("process {} goes on without wic-prof", pid));
  warn(fmt::format("process {} goes on, but {}", pid, outcome.stays));
}

}  // namespace

template <>
VerbBody declare<struct AttachVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<AttachOptions>();
  verb.add_option("process", options->process,
                  "the pid of a program that uses CUDA, or its name if it is the only one of that name; a program that "
                  "was not started with CUDA_INJECTION64_PATH naming wic-prof's library gets that by ptrace")
      ->type_name("PID|NAME")
      ->required();
  verb.option_defaults()->group("What is recorded");
  verb.add_option("--for", options->time, "record for so long (ms, s, m); default: until Ctrl-C, or the program's end")
      ->type_name("TIME");
  verb.add_option(
          "--trace", options->capture.trace,
          fmt::format("what to record, a list as of run, but no pcsampling and no mpi; default: {}", kDefaultTrace))
      ->type_name("LIST");
  add_trace_options(verb, options->plan, options->capture);
  add_dump_options(verb, options->capture);
  verb.option_defaults()->group("The recording");
  verb.add_option("--name", options->plan.name,
                  "the session's name for toggle and sessions; default: the program's name")
      ->type_name("NAME");
  verb.add_option("--metrics", options->metrics, "serve metrics of the recording, as run does")->type_name("ADDR");
  verb.add_option("--otlp", options->otlp, "send metrics of the recording, as run does")->type_name("URL");
  verb.add_option("--buffer-size", options->buffer_mib,
                  "shared memory between the program and wic-prof in MiB; default: as for run")
      ->type_name("MIB")
      ->check(CLI::Range(1ULL, 1ULL << 40));
  verb.add_flag_callback(
      "--no-ptrace", [options] { options->plan.join = false; },
      "attach only to a program that has wic-prof's library already; stop no thread");
  verb.add_flag("-q,--quiet", options->plan.quiet, "no progress, no summary");
  add_example(verb, "wic-prof attach 4242 -o server.wicprof --for 30s");
  return [options] {
    prepare_for_programs();
    if (const Result<> read = read_options(*options); !read) return fail(read.error());
    TerminalSignals signals;
    const Result<RunOutcome> outcome = run_app(options->plan, signals);
    if (!outcome) return fail(outcome.error());
    signals.end_with(outcome->status());
    if (!options->plan.quiet || !outcome->stays.empty()) report_left(*outcome, *options->plan.attach);
    if (!options->plan.quiet && !outcome->lost) guarded("summarizing the trace", [&] { print_summary(*outcome); });
    if (outcome->segments > 0 && !options->plan.quiet) note(traces_text(*outcome, options->plan.capture.segments));
    report_incomplete(*outcome);
    return outcome->status();
  };
}

}  // namespace wicprof::cli
