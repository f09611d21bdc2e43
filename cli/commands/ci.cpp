// wic-prof ci: checks repeated runs against limits, unattended.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "cli/ci/config.h"
#include "cli/ci/example.h"
#include "cli/ci/measure.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/files/output_name.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/process_setup.h"
#include "protocol/own_file.h"
#include "protocol/shell_words.h"
#include "protocol/time.h"
#include "protocol/utc_time.h"
#include "reports/gate_reports.h"

namespace wicprof::cli {

namespace {

struct CiOptions {
  std::string config;
  std::string folder = "wic-prof-ci";
  std::string format = "text";
  bool overwrite = false;
  bool example = false;
};

std::string in_folder(const CiOptions& options, std::string_view name) {
  return (std::filesystem::path(options.folder) / name).lexically_normal().string();
}

/// Creates the folder for traces and reports, unless it exists.
Result<> prepare_folder(const CiOptions& options) {
  // Where the user names none, others knew its name before.
  if (const Result<std::string> own = behind_own_links(options.folder); !own) return own.error();
  std::error_code failed;
  std::filesystem::create_directories(options.folder, failed);
  if (failed || !std::filesystem::is_directory(options.folder)) {
    return bad_input(fmt::format("cannot create the folder {}: {}; name another one with -o", options.folder,
                                 failed ? failed.message() : "a file has that name"));
  }
  for (const reports::GateReport& report : reports::kGateReports) {
    const Result<Output> output =
        prepare_output({literal_name(in_folder(options, report.file)), options.overwrite, true});
    if (!output) return output.error();
  }
  return ok();
}

Result<std::vector<analyzer::RunSeries>> load_baseline(const CiConfig& config) {
  std::vector<analyzer::RunSeries> series;
  for (const std::string& path : config.baseline) {
    const Result<analyzer::TraceModel> model = load_trace(path);
    if (!model) return Error{model.error().kind, "the baseline: " + model.error().message};
    series.push_back(analyzer::series_of(*model, config.gate.compare));
  }
  return series;
}

int status_of(analyzer::CheckState state) {
  switch (state) {
    case analyzer::CheckState::passed:
      return kDone;
    case analyzer::CheckState::failed:
    case analyzer::CheckState::inconclusive:
      return kCheckFailed;
    case analyzer::CheckState::could_not_look:
    case analyzer::CheckState::broken:
      break;
  }
  return kUnavailable;
}

/// What a build service calls the checks: the program's name, and the configuration's where it has a name of its own.
std::string name_of_checks(const CiOptions& options, const ProgramWords& program) {
  const std::string configuration = std::filesystem::path(options.config).stem().string();
  const std::string name = base_name(program.front());
  return configuration == "wic-prof" ? name : fmt::format("{} ({})", name, configuration);
}

/// Writes every report into the folder, and the one in the asked-for format to stdout.
Result<> write_reports(const CiOptions& options, const reports::GateReportInput& input) {
  std::string shown;
  for (const reports::GateReport& report : reports::kGateReports) {
    const std::string text = report.render(input);
    const Result<> written = write_output({in_folder(options, report.file), options.overwrite}, text);
    if (!written) return written.error();
    if (report.format == options.format) shown = text;
  }
  return write_output({"-", false}, shown);
}

int ci(CiOptions options, const ProgramWords& program) {
  if (options.example) return print_answer(kExampleConfig);
  if (options.config.empty()) {
    return fail(bad_input("ci needs a configuration: --config FILE; wic-prof ci --example prints one"));
  }
  if (program.empty()) {
    return fail(bad_input("ci needs a program to run: wic-prof ci --config wic-prof.toml -- APP ARGS..."));
  }
  const Result<std::string> folder_name = expand_output_name(options.folder, getpid());
  if (!folder_name) return fail(folder_name.error());
  options.folder = *folder_name;
  const Result<CiConfig> config = read_ci_config(options.config);
  if (!config) return fail(config.error());
  const Result<std::vector<analyzer::RunSeries>> baseline = load_baseline(*config);
  if (!baseline) return fail(baseline.error());
  if (const Result<> folder = prepare_folder(options); !folder) return fail(folder.error());

  reports::GateRun run;
  run.name = name_of_checks(options, program);
  run.utc = utc_time();
  run.command = shell_command(program);
  const TimeNs begin = now_ns();
  const Result<Measured> measured = measure(*config, sides_of(*config, program), options.folder, options.overwrite);
  if (!measured) return fail(measured.error());
  run.seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  run.files = measured->files;

  analyzer::GateResult result = measured->broken.empty()
                                    ? analyzer::judge_runs(config->gate, measured->sides, *baseline)
                                    : analyzer::broken_gate(measured->broken);
  if (only_runs(*config)) {
    result.notes.push_back(
        "the configuration has no limit and nothing to compare with: only that the program runs was checked");
    warn(result.notes.back());
  }
  const Result<> written = write_reports(options, {run, config->gate, measured->sides, result});
  if (!written) return fail(written.error());
  note(fmt::format("{}; junit.xml, result.json, summary.md and the traces are in {}",
                   analyzer::check_state_name(result.state), options.folder));
  return status_of(result.state);
}

}  // namespace

template <>
VerbBody declare<struct CiVerb>(CLI::App& verb, const ProgramWords& program) {
  const auto options = std::make_shared<CiOptions>();
  verb.add_option("-c,--config", options->config, "the runs and their limits, in TOML")->type_name("FILE");
  verb.add_flag("--example", options->example, "print a configuration with all keys and what they do");
  verb.add_option("-o,--output", options->folder, "the folder for traces, junit.xml, result.json and summary.md")
      ->type_name("FOLDER")
      ->capture_default_str();
  verb.add_flag("-f,--force-overwrite", options->overwrite, "overwrite existing files");
  add_format(verb, options->format);
  add_example(verb, "wic-prof ci --config wic-prof.toml -- ./halo --size 256");
  return [options, &program] {
    prepare_for_programs();
    return ci(*options, program);
  };
}

}  // namespace wicprof::cli
