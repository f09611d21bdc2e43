// wic-prof compare: compares two modes of one trace, or two traces.
#include <memory>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "reports/json/answers.h"
#include "reports/text/answers.h"

namespace wicprof::cli {

namespace {

struct CompareOptions {
  std::string file, file2;
  std::string format = "text";
  Output output;
  analyzer::CompareOptions how;
};

Result<analyzer::Comparison> compare_files(const CompareOptions& options) {
  const Result<analyzer::TraceModel> first = load_trace(options.file);
  if (!first) return first.error();
  if (options.file2.empty()) return analyzer::compare(*first, options.how);
  const Result<analyzer::TraceModel> second = load_trace(options.file2);
  if (!second) return second.error();
  return analyzer::compare(*first, *second, options.how);
}

}  // namespace

template <>
VerbBody declare<struct CompareVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<CompareOptions>();
  verb.add_option("FILE", options->file,
                  "a trace: with FILE2 the trace before, else compared around its own changes of mode")
      ->required();
  verb.add_option("FILE2", options->file2, "the trace after");
  verb.add_option("--nvtx", options->how.nvtx,
                  "time NVTX ranges of this name instead of the iterations found at wait sites")
      ->type_name("NAME[@DOMAIN]");
  verb.add_option("--tolerance", options->how.tolerance, "ignore a change smaller than this share")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  add_format(verb, options->format);
  add_output(verb, options->output);
  add_example(verb, "wic-prof compare poll.wicprof park.wicprof");
  return [options]() -> int {
    const Result<Output> output = prepare_output(options->output);
    if (!output) return fail(output.error());
    const Result<analyzer::Comparison> comparison = compare_files(*options);
    if (!comparison) return fail(comparison.error());
    const Result<> written = write_output(*output, options->format == "json" ? reports::comparison_json(*comparison)
                                                                             : reports::comparison_text(*comparison));
    return written ? kDone : fail(written.error());
  };
}

}  // namespace wicprof::cli
