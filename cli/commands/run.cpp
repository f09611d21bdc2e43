// wic-prof run: launches a program, records it and summarizes the result.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/commands/recording.h"
#include "cli/files/input_trace.h"
#include "cli/files/output_name.h"
#include "cli/metrics/address.h"
#include "cli/record/ab_options.h"
#include "cli/record/buffer_size.h"
#include "cli/record/capture.h"
#include "cli/record/guarded.h"
#include "cli/record/last_words.h"
#include "cli/record/run_app.h"
#include "cli/record/stop_signal.h"
#include "cli/record/terminal_signals.h"
#include "cli/record/wait_options.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/usage.h"
#include "cli/window/program.h"
#include "protocol/shell_words.h"
#include "protocol/trace_words.h"
#include "reports/text/answers.h"

namespace wicprof::cli {

namespace {

struct RunOptions {
  RunPlan plan;
  std::string mode;
  std::string strategy;
  std::string side;
  std::string schedule;
  bool ab = false, autopilot = false;
  AbOptions compared;  // without what other options say
  int repeat = 1;
  CaptureOptions capture;
  std::optional<unsigned long long> buffer_mib;
  std::string kill;
  std::string wait = "primary";
  std::optional<std::string> metrics, otlp;
  bool gui = false;
  std::string gui_script;
};

AbOptions ab_options(const RunOptions& options) {
  AbOptions ab = options.compared;
  ab.strategy = options.strategy;
  ab.side = options.side;
  ab.patched = options.capture.rewrite;
  ab.energy = options.capture.energy;
  return ab;
}

Result<> read_options(RunOptions& options, const CLI::App& verb, const ProgramWords& program) {
  RunPlan& plan = options.plan;
  plan.words = verb.remaining();
  if (!plan.words.empty() && plan.words.front().starts_with('-')) {
    return bad_input(no_option(verb, plan.words.front()).message +
                     ". The program's own options follow its name, after --");
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
  const Result<WaitSide> side = wanted_side(options.side, park->strategy);
  if (!side) return side.error();
  plan.side = options.ab && options.side.empty() ? WaitSide::device : *side;
  if (options.ab && options.repeat == 1) {
    const Result<AbPlan> modes = read_ab(ab_options(options));
    if (!modes) return modes.error();
    plan.compare(*modes);
  } else if (options.autopilot) {
    plan.park_where_it_pays(
        {*park, *side, options.compared.seed != 0 ? options.compared.seed : static_cast<std::uint64_t>(now_ns())});
  } else if (!options.schedule.empty()) {
    Result<std::vector<Phase>> phases = parse_schedule(plan.schedule_text, park->strategy);
    if (!phases) return phases.error();
    plan.phases = *std::move(phases);
  } else if (!options.ab && (!options.mode.empty() || !options.strategy.empty())) {
    const Result<WantedWait> wait = wanted_wait(options.mode, options.strategy);
    if (!wait) return wait.error();
    plan.phases = {{*wait, 0}};
  }
  Result<CapturePlan> capture = read_capture(options.capture);
  if (!capture) return capture.error();
  plan.capture = *std::move(capture);
  if (plan.capture.segments.wanted()) {
    const std::string out = fmt::format("leave {} out", plan.capture.segments.option());
    if (options.ab) return bad_input("--ab compares within one trace; " + out);
    if (options.repeat > 1) return bad_input("--repeat records one trace per run; " + out);
    if (options.gui) return bad_input("--gui shows one trace; " + out + ", and open one of them with wic-prof gui");
  }
  if (!options.kill.empty()) {
    const Result<int> signal = parse_stop_signal(options.kill);
    if (!signal) return signal.error();
    plan.stop_signal = *signal;
  }
  plan.wait_for_all = options.wait == "all";
  const Result<MetricsPlan> metrics = parse_metrics_plan(options.metrics, options.otlp);
  if (!metrics) return metrics.error();
  plan.metrics = *metrics;
  if (options.buffer_mib) plan.buffer_bytes = static_cast<std::size_t>(*options.buffer_mib) << 20;
  return ok();
}

/// The runs of --repeat, in order: with --ab one of each mode per round, in random order; otherwise `repeat` alike. The
/// first run polls where only it can say whose waits park: polling is the program's own way on both sides.
std::vector<RunPlan> repeated(const RunOptions& options, bool side_is_known) {
  std::vector<RunPlan> plans;
  std::mt19937_64 random(options.compared.seed != 0 ? options.compared.seed : static_cast<std::uint64_t>(now_ns()));
  const WantedWait park = *park_wait(options.strategy);
  for (int round = 1; round <= options.repeat; ++round) {
    const auto add = [&](const std::string& part, std::optional<WantedWait> wait) {
      RunPlan plan = options.plan;
      plan.output =
          numbered(plan.output.empty() ? literal_name(base_name(plan.words.front())) + ".wicprof" : plan.output, part);
      if (wait) plan.phases = {{*wait, 0}};
      plans.push_back(std::move(plan));
    };
    if (!options.ab) {
      add(std::to_string(round), std::nullopt);
      continue;
    }
    const bool parked_first = random() % 2 != 0 && (side_is_known || round > 1);
    for (const bool second : {false, true}) {
      const bool parked = parked_first != second;
      add(fmt::format("{}.{}", parked ? "park" : "poll", round),
          parked && !options.compared.placebo ? park : WantedWait{Mode::poll, default_strategy(Mode::poll)});
    }
  }
  return plans;
}

/// What to do with the traces of one side. `output`: the name that was given for them.
std::string other_side(const std::vector<std::string>& traces, const std::string& output) {
  const std::string name = output == "after.wicprof" ? "other.wicprof" : "after.wicprof";
  std::vector<std::string> others;
  for (std::size_t i = 1; i <= traces.size(); ++i) others.push_back(numbered(name, std::to_string(i)));
  return fmt::format("record the other side the same way with -o {}, then wic-prof compare {} --after {}", name,
                     fmt::join(traces, " "), fmt::join(others, " "));
}

/// Runs one after the other. A run that fails ends them.
int run_repeatedly(const RunOptions& options, TerminalSignals& signals) {
  std::optional<WaitSide> side = options.plan.side;
  if (options.ab) side = *compared_side(options.side, park_wait(options.strategy)->strategy);
  std::vector<RunPlan> plans = repeated(options, side.has_value());
  std::vector<std::string> traces;
  bool attached = false;
  for (RunPlan& plan : plans) {
    if (side) plan.side = *side;
    LastWords last_words;
    const Result<RunOutcome> outcome = run_app(plan, signals);
    last_words.program_ended();
    if (!outcome) return fail(outcome.error());
    guarded("reporting the end", [&] { report_end(*outcome, last_words, {}); });
    if (outcome->status() != kDone || outcome->interrupted) return outcome->status();
    traces.push_back(wicprof::shell_word(outcome->trace));
    attached = attached || outcome->attached;
    if (!side && outcome->attached) {
      side = outcome->side;
      if (!plan.quiet) note(chosen_side(*side, outcome->host_waits));
    }
  }
  std::sort(traces.begin(), traces.end());
  if (options.ab && !attached) {
    warn(
        "nothing was compared: the program has no wic runtime, and no host thread that waited in a call of CUDA which "
        "wic-prof records, so all runs waited the same way");
    return kDone;
  }
  if (!options.plan.quiet) {
    note("next: " + (options.ab ? fmt::format("wic-prof compare {}", fmt::join(traces, " "))
                                : other_side(traces, options.plan.output)));
  }
  return kDone;
}

// The options in the groups of the help text.

void add_way_options(CLI::App& verb, RunOptions& options) {
  verb.option_defaults()->group("How the program waits");
  verb.add_option("-m,--mode", options.mode,
                  "how the program waits from the start: poll (its own way) or park; default: "
                  "the program's own choice")
      ->type_name("MODE")
      ->check(CLI::IsMember({"poll", "park"}));
  verb.add_option(
          "--side", options.side,
          "which waits the modes are about: host (host threads in calls of CUDA), device (all others), or both; "
          "default: both, and with --ab device if the program has wait sites of its own, else host")
      ->type_name("SIDE")
      ->check(CLI::IsMember({"host", "device", "both"}));
  verb.add_option("--strategy", options.strategy, "how park waits: " + strategy_list() + "; default: auto")
      ->type_name("NAME");
  verb.add_option(
          "--schedule", options.schedule,
          "modes with their durations, such as poll:2s,park:2s (ms, s, m), counted from the start of the program's "
          "wic runtime, or from the first wait of a host thread in a call of CUDA; the last mode stays until the "
          "program ends")
      ->type_name("LIST")
      ->excludes(verb.get_option("--mode"));
}

void add_comparing_options(CLI::App& verb, RunOptions& options) {
  verb.option_defaults()->group("Comparing poll with park");
  CLI::Option* const ab =
      verb.add_flag("--ab", options.ab,
                    "compare poll with park in the running program: phases of both in random order, until the interval "
                    "of their ratio is as narrow as --precision or the time of --for is over")
          ->excludes(verb.get_option("--mode"))
          ->excludes(verb.get_option("--schedule"));
  verb.add_option("--for", options.compared.time, "with --ab: compare at most this long (ms, s, m)")
      ->type_name("TIME")
      ->needs(ab)
      ->capture_default_str();
  verb.add_option("--precision", options.compared.precision,
                  "with --ab: stop once the interval reaches at most this far to either side; 0%: use all of the time")
      ->type_name("SHARE%")
      ->needs(ab)
      ->capture_default_str();
  verb.add_option("--seed", options.compared.seed,
                  "with --ab: of the random order; default: by the clock. The trace keeps it")
      ->type_name("NUMBER")
      ->needs(ab);
  verb.add_flag("--end", options.compared.end_program,
                "with --ab: end the program by SIGTERM once the comparison is over; without it the program goes on")
      ->needs(ab);
  verb.add_flag("--placebo", options.compared.placebo,
                "with --ab: poll on both sides, to see what the comparison finds by chance in this program")
      ->needs(ab);
  verb.add_option(
          "--repeat", options.repeat,
          "record so many runs, one after the other, into traces NAME.1.wicprof, NAME.2.wicprof, ...; with --ab "
          "that many of each mode in random order, NAME.poll.1.wicprof and so on")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->excludes(verb.get_option("--schedule"));
}

void add_autopilot_options(CLI::App& verb, RunOptions& options) {
  verb.option_defaults()->group("Parking where it pays");
  verb.add_flag(
          "--auto", options.autopilot,
          "the autopilot: try parking in short phases in random order, as --ab does, keep it where it pays by "
          "more than its error, and go back where it does not any more, or where long units become longer. Each "
          "decision is in the trace, in --metrics and in wic-prof sessions. Example: wic-prof run --auto -- ./app")
      ->excludes(verb.get_option("--mode"))
      ->excludes(verb.get_option("--schedule"))
      ->excludes(verb.get_option("--ab"))
      ->excludes(verb.get_option("--repeat"));
}

void add_recording_options(CLI::App& verb, RunOptions& options) {
  verb.option_defaults()->group("What is recorded");
  CaptureOptions& capture = options.capture;
  verb.add_option("--trace", capture.trace,
                  fmt::format("what to record, a list of {}; default: {}", trace_word_list(), kDefaultTrace))
      ->type_name("LIST");
  verb.add_flag("--rewrite", capture.rewrite,
                "patch the loops in the program's kernels that wait for another thread's store, as the program loads "
                "them: their waits are recorded, and toggle and --mode park act on them. For kernels of which the "
                "program has PTX; `rewrite APP` says which those are");
  verb.add_flag("--energy", capture.energy,
                "read what GPUs and processors use (NVML, RAPL), and clocks and temperatures of GPUs; with --ab, each "
                "phase then lasts 3 s or more, which shows what polling takes in watts. Example: wic-prof run --ab "
                "--energy --for 2m -- ./app");
  verb.add_option("--delay", capture.delay,
                  "start to record this long after the program's start, such as 2s or 500ms (ms, s, m)")
      ->type_name("TIME");
  verb.add_option("--duration", capture.duration, "record for this long; then the program continues unrecorded")
      ->type_name("TIME");
  verb.add_option("--capture-range", capture.ranges,
                  "record only what overlaps NVTX ranges of this name; can be repeated")
      ->type_name("NAME[@DOMAIN]")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1);
}

void add_run_options(CLI::App& verb, RunOptions& options) {
  verb.option_defaults()->group("The run");
  verb.add_option("--name", options.plan.name,
                  "the session's name for toggle and sessions; default: the program's name")
      ->type_name("NAME");
  verb.add_option(
          "--kill", options.kill,
          "what ends the program when --duration is over or the run is interrupted: a signal such as TERM, INT "
          "or 9, and 5 s later SIGKILL; none leaves the program running; default: an interruption's own signal, "
          "and the program outlives --duration. Example: --duration 10s --kill TERM")
      ->type_name("SIGNAL");
  verb.add_option(
          "--wait", options.wait,
          "record until the program ends (primary), or until all processes that it has started have ended, also "
          "those in the background (all)")
      ->type_name("WHOM")
      ->check(CLI::IsMember({"primary", "all"}))
      ->capture_default_str();
  verb.add_option("--metrics", options.metrics,
                  "serve metrics of the run in the format OpenMetrics, for Prometheus and others of this machine: at "
                  "PORT or 127.0.0.1:PORT (0: any that is free), [::1]:PORT, or a Unix socket's path; default: nowhere")
      ->type_name("ADDR");
  verb.add_option("--otlp", options.otlp,
                  "send the same metrics to an OpenTelemetry receiver by OTLP over HTTP (JSON), every 10 s and at the "
                  "end; an IP address, and http alone; default: to nobody. Example: --otlp http://127.0.0.1:4318")
      ->type_name("URL");
  verb.add_option("--buffer-size", options.buffer_mib,
                  fmt::format("shared memory between the program and wic-prof in MiB, divided among 512 rings, one per "
                              "producer; default: {}, or a quarter of what a container's memory limit leaves",
                              kUsualBuffer >> 20))
      ->type_name("MIB")
      ->check(CLI::Range(1ULL, 1ULL << 40));
  verb.add_flag("--gui", options.gui, "watch the run in a window, which stays open until you close it");
  verb.add_option("--gui-drive", options.gui_script, "with --gui: the window follows a script, as with gui --drive")
      ->type_name("FILE");
  verb.add_flag("-q,--quiet", options.plan.quiet, "no progress, no summary");
}

}  // namespace

template <>
VerbBody declare<struct RunVerb>(CLI::App& verb, const ProgramWords& program) {
  const auto options = std::make_shared<RunOptions>();
  verb.prefix_command();  // words after the program's name belong to the program
  add_way_options(verb, *options);
  add_comparing_options(verb, *options);
  add_autopilot_options(verb, *options);
  add_recording_options(verb, *options);
  add_trace_options(verb, options->plan, options->capture);
  add_dump_options(verb, options->capture);
  add_run_options(verb, *options);
  add_example(verb, "wic-prof run -o halo.wicprof --schedule poll:2s,park:2s -- ./halo --size 256");
  return [options, &verb, &program] {
    prepare_for_programs();
    if (const Result<> read = read_options(*options, verb, program); !read) return fail(read.error());
    if (options->repeat > 1) {
      if (options->gui) return fail(bad_input("--gui shows one run; leave --repeat out"));
      TerminalSignals signals;
      return run_repeatedly(*options, signals);
    }
    std::optional<WindowProcess> window;
    if (options->gui) {
      if (const Result<> possible = can_open_window(); !possible) return fail(possible.error());
      options->plan.started = [&](const std::string& session) {
        Result<WindowProcess> started = WindowProcess::start(session, options->gui_script);
        if (!started) {
          warn(started.error().message);
          return pid_t{0};
        }
        window.emplace(*std::move(started));
        return window->pid();
      };
    }
    TerminalSignals signals;
    LastWords last_words;
    const Result<RunOutcome> outcome = run_app(options->plan, signals);
    last_words.program_ended();
    if (!outcome) return fail(outcome.error());
    signals.end_with(outcome->status());
    TraceFacts facts;
    if (!options->plan.quiet && !outcome->lost)
      guarded("summarizing the trace", [&] { facts = print_summary(*outcome); });
    if (outcome->segments > 0 && !options->plan.quiet) {
      note(traces_text(*outcome, options->plan.capture.segments));
      facts.empty = facts.empty && outcome->segments == 1;
    }
    guarded("reporting the end", [&] { report_end(*outcome, last_words, facts); });
    if (window) window->wait();
    return outcome->status();
  };
}

}  // namespace wicprof::cli
