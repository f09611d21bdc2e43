#include "cli/commands/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analyzer/analysis.h"
#include "analyzer/words/format.h"
#include "cli/files/input_trace.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "protocol/shell_words.h"
#include "reports/parts/hang.h"
#include "reports/text/answers.h"
#include "store/format/stat_list.h"

namespace wicprof::cli {

void add_trace_options(CLI::App& verb, RunPlan& plan, CaptureOptions& capture) {
  verb.option_defaults()->group("The trace");
  verb.add_option(
          "-o,--output", plan.output,
          "the trace; %p is the program's pid, %h the host, %q{VAR} an environment variable, %% a percent sign; "
          "default: APP.%p.wicprof in the current folder")
      ->type_name("FILE");
  verb.add_flag("-f,--force-overwrite", plan.overwrite, "overwrite the trace if it exists");
  verb.add_option("--keep-last", capture.keep_last,
                  "keep only this much time before the end, and less where it takes more than half of --max-size; the "
                  "trace stays that short during recording, too")
      ->type_name("TIME");
  verb.add_option("--segment", capture.segment,
                  "a new trace after each such time (10m; ms, s, m) or size (500M; K, M, G, T): NAME.0001.wicprof, "
                  "NAME.0002.wicprof, ...; each can be read while the next is recorded. With --keep-last: removes the "
                  "segments that are older")
      ->type_name("TIME|SIZE");
  verb.add_option("--max-size", capture.max_size,
                  "largest size of the trace (with --segment and --trigger: of each), such as 500M (K, M, G, T); "
                  "later events are counted as lost; default: none, with --trigger 1G")
      ->type_name("SIZE");
}

void add_dump_options(CLI::App& verb, CaptureOptions& capture) {
  verb.option_defaults()->group("A program that must not stop: its last minutes, when something happens");
  CLI::Option* const trigger =
      verb.add_option(
              "--trigger", capture.triggers,
              "with --keep-last: whenever this rule holds, write the last minutes as a trace, NAME.0001.wicprof, "
              "NAME.0002.wicprof, ..., and go on. What is left is written when the program or the recording "
              "ends. Rules: 'wait>20ms', 'wait:SITE>20ms', 'step>3*p99' (of the last 1000 steps), 'step>50ms', "
              "stuck or 'stuck>30s' (something waits, and nothing has ended for so long), signal:USR1 or "
              "signal:USR2 (sent to wic-prof), dump (wic-prof dump alone); can be repeated. "
              "Example: --keep-last 5m --trigger 'step>3*p99' --trigger stuck")
          ->type_name("RULE")
          ->needs(verb.get_option("--keep-last"))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->expected(1);
  verb.add_option(
          "--dump-pause", capture.dump_pause,
          "with --trigger: no dump for so long after one, except by a signal or wic-prof dump; the next one says "
          "how often a rule held meanwhile")
      ->type_name("TIME")
      ->needs(trigger)
      ->capture_default_str();
  verb.add_option("--max-dumps", capture.max_dumps,
                  "with --trigger: keep so many dumps, the newest, beside what is written at the end")
      ->type_name("N")
      ->needs(trigger)
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

namespace {

/// What a program that failed wrote last, or how to see that.
void report_last_words(const LastWords& last_words, const TraceFacts& facts) {
  if (const std::string line = last_words.line(); !line.empty()) {
    note("the last line of its messages: " + line);
  } else if (facts.empty && !facts.command.empty()) {
    note(fmt::format("{}; to see its messages alone: {}",
                     LastWords::on_terminal() ? "its messages are above" : "its messages went to its stderr",
                     facts.command));
  }
}

bool is_empty(const analyzer::TraceModel& model) {
  return model.waits.empty() && model.signals.empty() && model.host_waits.empty() && model.kernels.empty() &&
         model.copies.empty() && model.calls.empty() && model.nvtx.empty() && model.mpi_calls.empty();
}

}  // namespace

void report_end(const RunOutcome& outcome, const LastWords& last_words, const TraceFacts& facts) {
  if (const std::string failure = outcome.failure(); !failure.empty()) {
    const std::string after = facts.took ? " after " + analyzer::format_duration(*facts.took) : "";
    if (facts.empty && !outcome.interrupted) {
      warn(fmt::format("the program {}{}, before it used CUDA or waited through wic, so the trace shows no waits",
                       failure, after));
    } else if (outcome.end.signal) {
      warn(fmt::format("the program {}{}; the trace is complete up to {}", failure, after,
                       facts.cut ? "some 0.3 s before that" : "that point"));
    } else {
      note(fmt::format("the program {}{}", failure, after));
    }
    if (!outcome.interrupted) report_last_words(last_words, facts);
  }
  if (facts.empty && !outcome.out_of_session.empty()) warn("nothing was recorded: " + outcome.out_of_session);
  report_incomplete(outcome);
}

void report_incomplete(const RunOutcome& outcome) {
  if (outcome.recording)
    warn(fmt::format("THE TRACE IS {}: {}", outcome.lost ? "LOST" : "INCOMPLETE", outcome.recording->message));
}

TraceFacts print_summary(const RunOutcome& outcome) {
  TraceFacts facts;
  const Result<analyzer::TraceModel> model = load_trace(outcome.trace);
  if (!model) {
    fail(model.error());
    return facts;
  }
  facts.empty = is_empty(*model);
  facts.command = model->meta_value(store::MetaKey::command);
  facts.cut = std::ranges::any_of(model->stats, [](const store::StatRow& stat) {
    return stat.name == store::stat_info(store::Stat::ended_unwritten).name && stat.value > 0;
  });
  if (const auto run = analyzer::recorded_run(*model)) facts.took = run->end - run->begin;
  const std::string trace = shell_word(outcome.trace);
  if (facts.empty && !outcome.failure().empty() && !outcome.interrupted) {
    note("written to " + outcome.trace);
    return facts;
  }
  const reports::Screen screen = screen_of(STDERR_FILENO);
  show(reports::summary_text(*model, analyzer::analyze(*model, analyzer::Parties::left_out), screen));
  if (outcome.compared) show("\n" + reports::comparison_text(analyzer::compare(*model), screen));
  const bool hung = reports::hang_of(*model).has_value();
  note(fmt::format("written to {}; next: wic-prof {} {}", outcome.trace, hung ? "stuck" : "analyze", trace));
  return facts;
}

std::string traces_text(const RunOutcome& outcome, const SegmentPlan& plan) {
  if (!plan.triggers.wanted()) {
    return fmt::format("{} segments, from {} to {}; the summary above is of the last one", outcome.segments,
                       outcome.first_segment, outcome.trace);
  }
  if (outcome.segments == 1) return fmt::format("no dump was written; {} has what was left at the end", outcome.trace);
  return fmt::format("{} before {}, which has what was left at the end; the summary above is of that one",
                     analyzer::count_of(outcome.segments - 1, "dump"), outcome.trace);
}

}  // namespace wicprof::cli
