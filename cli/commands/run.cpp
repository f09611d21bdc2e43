// wic-prof run: launch, record, sum up.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <optional>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/record/capture.h"
#include "cli/record/run_app.h"
#include "cli/record/wait_options.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/window/program.h"
#include "protocol/trace_words.h"
#include "reports/text/answers.h"

namespace wicprof::cli {

namespace {

struct RunOptions {
  RunPlan plan;
  std::string mode;
  std::string strategy;
  std::string schedule;
  CaptureOptions capture;
  unsigned long long buffer_mib = 128;
  bool gui = false;
  std::string gui_script;
};

Result<> settle(RunOptions& options, const CLI::App& verb, const ProgramWords& program) {
  RunPlan& plan = options.plan;
  plan.words = verb.remaining();
  if (!plan.words.empty() && plan.words.front().starts_with('-')) {
    return bad_input(
        fmt::format("run has no option {}; see wic-prof run --help. The program's own options follow its "
                    "name, after --",
                    plan.words.front()));
  }
  plan.words.insert(plan.words.end(), program.begin(), program.end());
  if (plan.words.empty()) return bad_input("run needs a program to start: wic-prof run -- APP ARGS...");
  if (plan.output == "-") {
    return bad_input(
        "a trace is a database and cannot go to stdout; name a file with -o, and use wic-prof report for stdout");
  }
  plan.schedule_text = options.schedule;
  const Result<WantedWait> park = park_wait(options.strategy);
  if (!park) return park.error();
  if (!options.schedule.empty()) {
    Result<std::vector<Phase>> phases = parse_schedule(options.schedule, park->strategy);
    if (!phases) return phases.error();
    plan.phases = *std::move(phases);
  } else if (!options.mode.empty() || !options.strategy.empty()) {
    const Result<WantedWait> wait = wanted_wait(options.mode, options.strategy);
    if (!wait) return wait.error();
    plan.phases = {{*wait, 0}};
  }
  Result<CapturePlan> capture = read_capture(options.capture);
  if (!capture) return capture.error();
  plan.capture = *std::move(capture);
  plan.buffer_bytes = static_cast<std::size_t>(options.buffer_mib) << 20;
  return ok();
}

void say_how_it_ended(const RunOutcome& outcome) {
  const AppEnd& end = outcome.end;
  if (end.signal) {
    warn(fmt::format("the program was killed by signal {} ({}); the trace is complete up to then", *end.signal,
                     strsignal(*end.signal)));
  } else if (end.status != 0) {
    note(fmt::format("the program ended with status {}", end.status));
  }
  if (outcome.recording) warn(fmt::format("THE TRACE IS NOT WHOLE: {}", outcome.recording->message));
}

void sum_up(const std::string& trace) {
  const Result<analyzer::TraceModel> model = load_trace(trace);
  if (!model) {
    fail(model.error());
    return;
  }
  fmt::print(stderr, "{}", reports::summary_text(*model, analyzer::analyze(*model)));
  note(fmt::format("written to {}; next: wic-prof analyze {}", trace, trace));
}

}  // namespace

template <>
VerbBody declare<struct RunVerb>(CLI::App& verb, const ProgramWords& program) {
  const auto options = std::make_shared<RunOptions>();
  verb.prefix_command();  // what follows the program's name is the program's
  verb.add_option("-o,--output", options->plan.output,
                  "the trace; %p the program's pid, %h host, %q{VAR} environment, %% percent sign; by default "
                  "APP.%p.wicprof in the current folder")
      ->type_name("FILE");
  verb.add_flag("-f,--force-overwrite", options->plan.overwrite, "overwrite the trace when it exists");
  CLI::Option* mode = verb.add_option("-m,--mode", options->mode,
                                      "how the program waits from the start: poll (its own way) or park; as the "
                                      "program itself wants unless named")
                          ->type_name("MODE")
                          ->check(CLI::IsMember({"poll", "park"}));
  verb.add_option("--strategy", options->strategy, "what park does: " + strategy_list() + "; auto unless named")
      ->type_name("NAME");
  verb.add_option("--schedule", options->schedule,
                  "modes by time, like poll:2s,park:2s (ms, s, m), counted from when the program's wic runtime starts; "
                  "the last one holds until the program ends")
      ->type_name("LIST")
      ->excludes(mode);
  verb.add_option("--name", options->plan.name,
                  "the session's name for toggle and sessions; by default after the program")
      ->type_name("NAME");
  verb.add_option("--buffer-size", options->buffer_mib,
                  "MiB of shared memory between the program and wic-prof, shared by 16 rings, one a producer")
      ->type_name("MIB")
      ->check(CLI::Range(1ULL, 1ULL << 40))
      ->capture_default_str();
  CaptureOptions& capture = options->capture;
  verb.add_option("--trace", capture.trace,
                  fmt::format("what to record, a list of {}; {} unless named", trace_word_list(), kDefaultTrace))
      ->type_name("LIST");
  verb.add_option("--delay", capture.delay,
                  "record from so long after the program's start on, like 2s or 500ms (ms, s, m)")
      ->type_name("TIME");
  verb.add_option("--duration", capture.duration, "record for so long; then the program goes on unrecorded")
      ->type_name("TIME");
  verb.add_option("--capture-range", capture.ranges,
                  "record what reaches into NVTX ranges of that name only; may be given several times")
      ->type_name("NAME[@DOMAIN]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1);
  verb.add_option("--keep-last", capture.keep_last,
                  "keep only what happened in so long before the end, while recording, too")
      ->type_name("TIME");
  verb.add_option("--max-size", capture.max_size,
                  "the trace grows to this size at most, like 500M (K, M, G, T); what comes then is counted as lost")
      ->type_name("SIZE");
  verb.add_flag("--gui", options->gui, "watch it in a window, which stays until it is closed");
  verb.add_option("--gui-drive", options->gui_script,
                  "with --gui: the window does what a script says, as gui --drive does")
      ->type_name("FILE");
  verb.add_flag("-q,--quiet", options->plan.quiet, "no progress, no summary");
  add_example(verb, "wic-prof run -o halo.wicprof --schedule poll:2s,park:2s -- ./halo --size 256");
  return [options, &verb, &program] {
    if (const Result<> settled = settle(*options, verb, program); !settled) return fail(settled.error());
    std::optional<WindowProcess> window;
    if (options->gui) {
      if (const Result<> possible = can_open_window(); !possible) return fail(possible.error());
      options->plan.started = [&](const std::string& session) {
        Result<WindowProcess> started = WindowProcess::start(session, options->gui_script);
        if (started) {
          window.emplace(*std::move(started));
        } else {
          warn(started.error().message);
        }
      };
    }
    const Result<RunOutcome> outcome = run_app(options->plan);
    if (!outcome) return fail(outcome.error());
    if (!options->plan.quiet) sum_up(outcome->trace);
    say_how_it_ended(*outcome);
    if (window) window->wait();
    return outcome->end.status;
  };
}

}  // namespace wicprof::cli
