// wic-prof analyze: what a trace says.
#include <memory>

#include "cli/commands/list.h"
#include "cli/commands/options.h"
#include "cli/exit_status.h"
#include "cli/input_trace.h"
#include "cli/messages.h"

namespace wicprof::cli {

namespace {
struct AnalyzeOptions {
  std::string file;
  std::string format = "text";
  Output output;
};
}  // namespace

VerbBody declare_analyze(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<AnalyzeOptions>();
  verb.add_option("FILE", options->file, "a trace (.wicprof)")->required();
  add_format(verb, options->format);
  add_output(verb, options->output);
  add_example(verb, "wic-prof analyze halo.wicprof");
  return [options]() -> int {
    const Result<Output> output = prepare_output(options->output);
    if (!output) return fail(output.error());
    const Result<analyzer::TraceModel> model = load_trace(options->file);
    if (!model) return fail(model.error());
    const analyzer::Analysis analysis = analyzer::analyze(*model);
    const Result<> written =
        write_output(*output, options->format == "json" ? analyzer::analysis_json(*model, analysis)
                                                        : analyzer::analysis_text(*model, analysis));
    return written ? kDone : fail(written.error());
  };
}

}  // namespace wicprof::cli
