// wic-prof demo: records a bundled sample, analyzes it and writes a report.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "cli/checks/cuda_driver.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/exe_path.h"
#include "cli/files/input_trace.h"
#include "cli/files/output_name.h"
#include "cli/files/recorded.h"
#include "cli/record/program_output.h"
#include "cli/record/run_app.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "cli/terminal/screen.h"
#include "reports/render.h"
#include "reports/text/answers.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kTime = 10 * kSecond;
constexpr TimeNs kTrial = 30 * kSecond;  // for one iteration on a GPU, its driver's start included
constexpr char kSeconds[] = "60";        // the comparison ends the sample earlier

struct DemoOptions {
  std::string folder = ".";
  bool overwrite = false;
  std::string recorded;  ///< the name of an application; empty = all
};

std::string in_folder(const std::string& folder, const char* file) {
  return (std::filesystem::path(folder) / file).lexically_normal().string();
}

/// Why `sample` does not run on the first GPU, in its own words: it has no code for this GPU, the driver is older than
/// its CUDA, or the like. Empty: it runs.
std::string why_not_on_gpu(const std::string& sample) {
  const Result<ProgramOutput> tried =
      output_of({sample, "--devices", "cuda:0", "--iterations", "1"}, now_ns() + kTrial);
  if (!tried) return tried.error().message;
  if (tried->status == 0) return {};
  const std::string line = tried->errors.substr(0, tried->errors.find('\n'));
  return line.empty() ? fmt::format("it ended with status {}", tried->status) : line;
}

std::string demo_device(const std::string& sample) {
  if (WICPROF_HAS_CUDA) {
    const Result<CudaDriver> driver = probe_cuda_driver();
    if (driver && !driver->devices.empty()) {
      const std::string& gpu = driver->devices.front().name;
      const std::string reason = why_not_on_gpu(sample);
      if (reason.empty()) {
        note(fmt::format("demo on {} (cuda:0)", gpu));
        return "cuda:0";
      }
      warn(fmt::format(
          "the sample does not run on {} (cuda:0) with this driver, of CUDA {}.{}: {}; build wic-prof on this "
          "machine to have code for it: make",
          gpu, driver->version / 1000, driver->version % 1000 / 10, reason));
    }
  }
  note(
      "demo on the CPU device (simt:1), because this build can use no GPU here: the demo shows how the tool works, "
      "but its figures say nothing about a GPU");
  return "simt:1";
}

int demo(DemoOptions options) {
  const Result<std::string> folder = expand_output_name(options.folder, getpid());
  if (!folder) return fail(folder.error());
  options.folder = *folder;
  std::optional<std::string> sample = beside_binary("hot_flag");
  if (!sample) sample = beside_binary("../libexec/wic-prof/hot_flag");  // in an installation
  if (!sample)
    return fail(unavailable("the sample hot_flag is not beside wic-prof; build it: make, or ninja -C build hot_flag"));
  const Result<Output> page =
      prepare_output({literal_name(in_folder(options.folder, "report.html")), options.overwrite, true});
  if (!page) return fail(page.error());

  RunPlan plan;
  plan.words = {*sample, "--devices", demo_device(*sample), "--wait", "poll", "--seconds", kSeconds};
  plan.output = literal_name(in_folder(options.folder, "demo.wicprof"));
  plan.overwrite = options.overwrite;
  plan.ab.emplace();
  plan.ab->time = kTime;
  plan.ab->seed = static_cast<std::uint64_t>(now_ns());
  plan.ab->end_program = true;
  plan.phases = {{plan.ab->poll, 0}};
  plan.side = WaitSide::device;
  const Result<RunOutcome> outcome = run_app(plan);
  if (!outcome) return fail(outcome.error());
  if (outcome->recording) return fail(*outcome->recording);
  if (outcome->end.status != 0 && !outcome->ended_as_planned) {
    fail(
        unavailable(fmt::format("the sample ended with status {}; its own message is above, and the recording is in {}",
                                outcome->end.status, outcome->trace)));
    return outcome->end.status;
  }

  const Result<analyzer::TraceModel> model = load_trace(outcome->trace);
  if (!model) return fail(model.error());
  const int printed = print_answer(fmt::format(
      "{}\n{}", reports::comparison_text(analyzer::compare(*model), screen_of(STDOUT_FILENO)),
      reports::summary_text(*model, analyzer::analyze(*model, analyzer::Parties::left_out), screen_of(STDOUT_FILENO))));
  const Result<> written = write_output(*page, reports::render_trace(*model, nullptr, "html"));
  if (!written) return fail(written.error());
  note(fmt::format("the trace is {}, the report is {}: open it in a browser", outcome->trace, page->name));
  return printed;
}

int show_recorded(const std::string& name) {
  const Result<std::string> text =
      name.empty() ? recorded_table(screen_of(STDOUT_FILENO)) : recorded_application(name, screen_of(STDOUT_FILENO));
  if (!text) return fail(text.error());
  return print_answer(*text);
}

}  // namespace

template <>
VerbBody declare<struct DemoVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::Option* const output =
      verb.add_option("-o,--output", options->folder, "the folder for demo.wicprof and report.html")
          ->type_name("FOLDER")
          ->capture_default_str();
  CLI::Option* const overwrite = verb.add_flag("-f,--force-overwrite", options->overwrite, "overwrite existing files");
  CLI::Option* const recorded = verb.add_option("--recorded", options->recorded,
                                                "show the bundled traces of the sample applications, recorded on a "
                                                "GPU: one for which parking matters, one for "
                                                "which it does not, and a table of all; or the one of NAME")
                                    ->type_name("[NAME]")
                                    ->expected(0, 1)
                                    ->excludes(output)
                                    ->excludes(overwrite);
  add_example(verb, "wic-prof demo -o /tmp");
  return [options, recorded] {
    prepare_for_programs();
    return recorded->count() > 0 ? show_recorded(options->recorded) : demo(*options);
  };
}

}  // namespace wicprof::cli
