// wic-prof analyze: prints the analysis of a trace, or one of the paper's figures about it.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "analyzer/figures/list.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "reports/csv/figure_csv.h"
#include "reports/json/answers.h"
#include "reports/json/figure_json.h"
#include "reports/text/answers.h"
#include "reports/text/figure_text.h"

namespace wicprof::cli {

namespace {

struct AnalyzeOptions {
  std::vector<std::string> files;
  std::string format = "text";
  int figure = 0;  ///< 0 = the whole analysis
  bool verbose = false;
  Output output;
};

std::string figure_numbers() {
  std::string list;
  for (const analyzer::FigureInfo& info : analyzer::figures())
    list += (list.empty() ? "" : ", ") + std::to_string(info.number);
  return list;
}

Result<> check(const AnalyzeOptions& options) {
  if (options.figure != 0 && analyzer::figure_by_number(options.figure) == nullptr) {
    return bad_input(fmt::format("figure {} does not exist; the figures are {}", options.figure, figure_numbers()));
  }
  if (options.figure == 0 && options.format == "csv") {
    return bad_input("only --figure has a csv; the whole analysis is text or json");
  }
  return ok();
}

Result<std::string> figure_of(const AnalyzeOptions& options) {
  std::vector<analyzer::TraceModel> models;
  models.reserve(options.files.size());
  for (const std::string& file : options.files) {
    Result<analyzer::TraceModel> model = load_trace(file);
    if (!model) return model.error();
    models.push_back(*std::move(model));
  }
  std::vector<const analyzer::TraceModel*> traces;
  for (const analyzer::TraceModel& model : models) traces.push_back(&model);
  const analyzer::Figure figure = analyzer::make_figure(options.figure, analyzer::figure_input(traces));
  if (options.format == "json") return reports::figure_json(figure);
  if (options.format == "text") return reports::figure_text(figure, screen_of_output(options.output.name));
  if (!figure.missing.empty()) warn(fmt::format("figure {}: could not look: {}", figure.number, figure.missing));
  return reports::figure_csv(figure);
}

Result<std::string> analysis_of(const AnalyzeOptions& options) {
  const Result<analyzer::TraceModel> model = load_job(options.files);
  if (!model) return model.error();
  std::optional<analyzer::Comparison> comparison;
  if (analyzer::Modes(*model).both()) comparison = analyzer::compare(*model);
  const analyzer::Comparison* const both = comparison ? &*comparison : nullptr;
  if (options.format == "json") return reports::analysis_json(*model, analyzer::analyze(*model), both);
  return reports::analysis_text(*model, analyzer::analyze(*model, analyzer::Parties::left_out),
                                {screen_of_output(options.output.name), options.verbose, both,
                                 options.files.size() > 1 ? "" : options.files.front()});
}

}  // namespace

template <>
VerbBody declare<struct AnalyzeVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<AnalyzeOptions>();
  verb.add_option("FILE", options->files,
                  "a trace (.wicprof), or the traces of one job, one for each rank; with --figure, traces to be shown "
                  "side by side")
      ->required();
  verb.add_option("--figure", options->figure, "print one of the WIC paper's figures instead: " + figure_numbers())
      ->type_name("N");
  verb.add_flag("--verbose", options->verbose,
                "with all tables, the evidence of the classification, and what was not looked at");
  verb.add_option("--format", options->format,
                  "text for people, json for machines (one document on stdout), csv for a figure")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  add_output(verb, options->output);
  add_example(verb, "wic-prof analyze halo.wicprof");
  return [options]() -> int {
    if (const Result<> usable = check(*options); !usable) return fail(usable.error());
    const Result<Output> output = prepare_output(options->output);
    if (!output) return fail(output.error());
    const Result<std::string> text = options->figure != 0 ? figure_of(*options) : analysis_of(*options);
    if (!text) return fail(text.error());
    const Result<> written = write_output(*output, *text);
    return written ? kDone : fail(written.error());
  };
}

}  // namespace wicprof::cli
