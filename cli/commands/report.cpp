// wic-prof report: a document about a trace.
#include <memory>

#include "cli/commands/list.h"
#include "cli/commands/options.h"
#include "cli/exit_status.h"
#include "cli/input_trace.h"
#include "cli/messages.h"
#include "cli/report_text.h"

namespace wicprof::cli {

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string format;
  Output output;
};

int report(const ReportOptions& options) {
  const std::optional<analyzer::ReportFormat> format = analyzer::report_format_from_name(options.format);
  if (!format)
    return fail(bad_input("there is no report format '" + options.format +
                          "'; the formats are html, md, json, csv and perfetto"));
  const Result<Output> output = prepare_output(options.output);
  if (!output) return fail(output.error());
  std::vector<analyzer::TraceModel> models;
  for (const std::string& file : options.files) {
    Result<analyzer::TraceModel> model = load_trace(file);
    if (!model) return fail(model.error());
    models.push_back(*std::move(model));
  }
  const Result<> written =
      write_output(*output, report_text(models.back(), models.size() > 1 ? &models.front() : nullptr, *format));
  if (!written) return fail(written.error());
  if (output->name != "-") note("written to " + output->name);
  return kDone;
}

}  // namespace

VerbBody declare_report(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ReportOptions>();
  verb.add_option("FILE", options->files, "a trace, or two: the one before and the one that the report is about")
      ->required()
      ->expected(1, 2);
  verb.add_option("--format", options->format,
                  "html (one self-contained page), md, json, csv (the wait sites) or perfetto (for ui.perfetto.dev)")
      ->required()
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"html", "md", "json", "csv", "perfetto"}));
  add_output(verb, options->output);
  add_example(verb, "wic-prof report halo.wicprof --format html -o halo.html");
  return [options] { return report(*options); };
}

}  // namespace wicprof::cli
