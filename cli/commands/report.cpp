// wic-prof report: writes a document about a trace.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "analyzer/ranks/join.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "reports/render.h"

namespace wicprof::cli {

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string format;
  Output output;
};

/// `name` is one of formats().
const reports::Format& format_of(const std::string& name) {
  const auto formats = reports::formats();
  return *std::find_if(formats.begin(), formats.end(),
                       [&](const reports::Format& format) { return format.name == name; });
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const reports::Format& format : reports::formats()) names.emplace_back(format.name);
  return names;
}

/// What --format names, else what the output's name ends with.
Result<std::string> wanted_format(const ReportOptions& options, const std::string& output) {
  if (!options.format.empty()) return options.format;
  const reports::Format* wanted = nullptr;
  for (const reports::Format& format : reports::formats()) {
    const bool closer = wanted == nullptr || format.ending.size() > wanted->ending.size();
    if (output.ends_with(format.ending) && closer) wanted = &format;
  }
  if (wanted != nullptr) return std::string(wanted->name);
  return bad_input(fmt::format("report needs a format: name an output such as -o report.html, or one of --format {}",
                               fmt::join(format_names(), ", ")));
}

/// One, of a trace or of the traces of one job; or two, to be compared.
Result<std::vector<analyzer::TraceModel>> models_of(const std::vector<std::string>& files) {
  std::vector<analyzer::TraceModel> models;
  if (files.size() > 2) {
    Result<analyzer::TraceModel> job = load_job(files);
    if (!job) return job.error();
    models.push_back(*std::move(job));
    return models;
  }
  bool digests = false;
  for (const std::string& file : files) {
    Result<std::vector<analyzer::TraceModel>> traces = load_traces(file);
    if (!traces) return traces.error();
    for (analyzer::TraceModel& model : *traces) {
      digests = digests || model.is_digest();
      models.push_back(std::move(model));
    }
  }
  if (models.size() == 1 || (!digests && !analyzer::are_of_one_job(models))) return models;
  Result<analyzer::TraceModel> job = join_job(std::move(models));
  if (!job) return job.error();
  return std::vector{*std::move(job)};
}

int report(const ReportOptions& options) {
  const Result<Output> output = prepare_output(options.output);
  if (!output) return fail(output.error());
  const Result<std::string> format = wanted_format(options, output->name);
  if (!format) return fail(format.error());
  if (output->name == "-" && format_of(*format).is_binary && isatty(STDOUT_FILENO)) {
    return fail(bad_input(fmt::format("{} is no text for a terminal; name a file with -o", *format)));
  }
  const Result<std::vector<analyzer::TraceModel>> models = models_of(options.files);
  if (!models) return fail(models.error());
  if (const analyzer::TraceModel& model = models->back(); model.is_digest() && !format_of(*format).of_digests)
    return fail(store::refused_digest(options.files.front(), model.meta_value(store::MetaKey::digest_of)));
  const std::string document =
      reports::render_trace(models->back(), models->size() > 1 ? &models->front() : nullptr, *format);
  const Result<> written =
      format_of(*format).is_binary ? write_bytes_to(*output, document) : write_output(*output, document);
  if (!written) return fail(written.error());
  if (output->name != "-") note("written to " + output->name);
  return kDone;
}

/// "html (one self-contained page), md or csv (the wait sites)"
std::string format_help() {
  std::string text;
  const auto formats = reports::formats();
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) text += i + 1 < formats.size() ? ", " : " or ";
    text += formats[i].name;
    if (!formats[i].what.empty()) text += fmt::format(" ({})", formats[i].what);
  }
  return text;
}

}  // namespace

template <>
VerbBody declare<struct ReportVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ReportOptions>();
  verb.add_option(
          "FILE", options->files,
          "a trace; or two, of which the first is the trace before; or the traces of one job, one for each rank")
      ->required();
  verb.add_option("--format", options->format, format_help() + "; default: as the output's name ends")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(format_names()));
  add_output(verb, options->output);
  add_example(verb, "wic-prof report halo.wicprof -o halo.html");
  return [options] { return report(*options); };
}

}  // namespace wicprof::cli
