// wic-prof compare: compares two modes of one trace, two traces, or several traces on each side.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/compare/run_series.h"
#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "reports/json/answers.h"
#include "reports/text/answers.h"

namespace wicprof::cli {

namespace {

struct CompareOptions {
  std::vector<std::string> files, after;
  std::string format = "text";
  Output output;
  analyzer::CompareOptions how;
};

constexpr double kLargestTolerance = 0.99;

using Runs = std::vector<analyzer::RunSeries>;

/// One trace is in memory at a time.
Result<Runs> load_runs(const std::vector<std::string>& files, const analyzer::CompareOptions& how) {
  Runs runs;
  for (const std::string& file : files) {
    const Result<analyzer::TraceModel> model = load_trace(file);
    if (!model) return model.error();
    runs.push_back(analyzer::series_of(*model, how));
  }
  return Result<Runs>(std::move(runs));
}

std::string label_of(const Runs& runs, const std::string& file) {
  return runs.size() == 1 ? runs.front().trace : analyzer::count_of(runs.size(), "run") + " like " + file;
}

Result<analyzer::Comparison> compare_sides(const CompareOptions& options) {
  const Result<Runs> before = load_runs(options.files, options.how);
  if (!before) return before.error();
  const Result<Runs> after = load_runs(options.after, options.how);
  if (!after) return after.error();
  return analyzer::compare_runs(*before, *after, label_of(*before, before->front().trace),
                                label_of(*after, after->front().trace), options.how);
}

/// Three traces and more without --after: the mode of each says its side.
Result<analyzer::Comparison> compare_by_mode(const CompareOptions& options) {
  const Result<Runs> all = load_runs(options.files, options.how);
  if (!all) return all.error();
  Runs sides[2];
  for (const analyzer::RunSeries& run : *all) sides[run.mode == Mode::park ? 1 : 0].push_back(run);
  for (const Runs& side : sides) {
    if (!side.empty()) continue;
    return bad_input(
        fmt::format("all {} traces wait in the same mode, so their modes do not say which were before and "
                    "which after: put the traces after behind --after",
                    all->size()));
  }
  return analyzer::compare_runs(sides[0], sides[1], "poll", "park", options.how);
}

Result<analyzer::Comparison> compare_files(const CompareOptions& options) {
  if (!options.after.empty()) {
    if (options.files.size() > 1 || options.after.size() > 1) return compare_sides(options);
  } else if (options.files.size() > 2) {
    return compare_by_mode(options);
  }
  const Result<analyzer::TraceModel> first = load_trace(options.files.front());
  if (!first) return first.error();
  if (options.files.size() == 1 && options.after.empty()) return analyzer::compare(*first, options.how);
  const Result<analyzer::TraceModel> second =
      load_trace(options.after.empty() ? options.files.back() : options.after.front());
  if (!second) return second.error();
  return analyzer::compare(*first, *second, options.how);
}

}  // namespace

template <>
VerbBody declare<struct CompareVerb>(CLI::App& verb, const ProgramWords&) {
  // CLI11's Range lets "nan" through.
  const CLI::Validator share(
      [](const std::string& text) {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        return number && value >= 0 && value <= kLargestTolerance
                   ? std::string()
                   : fmt::format("'{}' is not a share from 0 to {}", text, kLargestTolerance);
      },
      "");
  const auto options = std::make_shared<CompareOptions>();
  verb.add_option("FILE", options->files,
                  "one trace: compared around its own changes of mode; two: the traces before and after; more: runs of "
                  "both modes, or with --after the traces before")
      ->required();
  verb.add_option("--after", options->after, "the traces after, if a side has several")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1, 1000);
  verb.add_option(
          "--nvtx", options->how.nvtx,
          "time NVTX ranges of this name instead of what compare chooses; # in it stands for any number (step #)")
      ->type_name("NAME[@DOMAIN]");
  verb.add_option("--tolerance", options->how.tolerance, "ignore a change smaller than this share")
      ->type_name("SHARE")
      ->check(share)
      ->capture_default_str();
  add_format(verb, options->format);
  add_output(verb, options->output);
  add_example(verb, "wic-prof compare poll.wicprof park.wicprof");
  return [options]() -> int {
    const Result<Output> output = prepare_output(options->output);
    if (!output) return fail(output.error());
    const Result<analyzer::Comparison> comparison = compare_files(*options);
    if (!comparison) return fail(comparison.error());
    const Result<> written =
        write_output(*output, options->format == "json"
                                  ? reports::comparison_json(*comparison)
                                  : reports::comparison_text(*comparison, screen_of_output(options->output.name)));
    return written ? kDone : fail(written.error());
  };
}

}  // namespace wicprof::cli
