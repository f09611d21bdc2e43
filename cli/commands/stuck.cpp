// wic-prof stuck: what a program that hangs waits for, and the likeliest missing signal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/sessions/dump_views.h"
#include "cli/sessions/job.h"
#include "cli/sessions/own_session.h"
#include "cli/sessions/running_sessions.h"
#include "cli/sessions/stuck_document.h"
#include "cli/sessions/stuck_view.h"
#include "cli/sessions/trace_views.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/write_text.h"
#include "reports/parts/json.h"
#include "reports/text/stuck_text.h"
#include "store/format/meta_key.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {

struct StuckOptions {
  std::vector<std::string> files;
  std::string session, format = "text";
};

/// What `stuck` looks at: a session, or several that record the ranks of one job.
struct Looked {
  SeenSession seen;
  std::vector<SessionStatus> sessions;
};

Result<SeenSession> look_at(const SessionInfo& session, std::vector<SessionStatus>& statuses) {
  Result<SessionStatus> status = ask_status(session.socket_path);
  Result<SeenSession> seen = status ? look_at_session(session, *status) : Result<SeenSession>(status.error());
  if (!seen) return in_session(session, seen.error());
  statuses.push_back(*std::move(status));
  return seen;
}

Result<Looked> look(const std::string& name) {
  const Result<RunningSessions> running = running_sessions();
  const bool is_job = name.empty() && running && running->sessions.size() > 1 && ranks_of_job(running->sessions);
  const Result<SessionInfo> one = is_job ? running->sessions.front() : choose_session(name);
  if (!one) return one.error();
  Looked looked;
  std::vector<SeenSession> all;
  std::vector<std::string> not_seen;
  for (const SessionInfo& session : is_job ? running->sessions : std::vector<SessionInfo>{*one}) {
    Result<SeenSession> seen = look_at(session, looked.sessions);
    if (seen) {
      all.push_back(*std::move(seen));
    } else if (is_job) {
      not_seen.push_back(seen.error().message);
    } else {
      return seen.error();
    }
  }
  if (all.empty()) return unavailable(not_seen.front());
  looked.seen = joined(std::move(all));
  looked.seen.not_seen.insert(looked.seen.not_seen.end(), not_seen.begin(), not_seen.end());
  return looked;
}

/// What the trace says of its recording.
Result<analyzer::TraceModel> recorded(const std::string& trace) {
  analyzer::TraceModel model;
  const Result<store::Reader> reader = store::Reader::open(trace);
  auto meta = reader ? reader->meta() : reader.error();
  if (!meta) return meta.error();
  model.meta = *std::move(meta);
  if (!model.meta_value(store::MetaKey::open_work).empty()) return model;
  return unavailable(
      trace +
      (model.meta_value(store::MetaKey::imported_from).empty()
           ? " has no record of a hang: nothing that had waited for half a minute still waited at its recording's end"
           : " was imported, without a record of a hang; record the program with wic-prof run"));
}

/// Traces of one job, a trace, or dumps.
Result<nlohmann::ordered_json> of_files(const std::vector<std::string>& files) {
  const auto dumps = std::count_if(files.begin(), files.end(), may_be_dump);
  if (dumps == static_cast<std::ptrdiff_t>(files.size())) {
    const Result<analyzer::StuckView> view = look_at_dumps(files);
    if (!view) return view.error();
    return stuck_document(SeenSession{*view, {}}, files);
  }
  if (dumps > 0)
    return bad_input(
        fmt::format("{} is a dump of PyTorch's Flight Recorder, and others of these files are not; name "
                    "traces or dumps",
                    *std::find_if(files.begin(), files.end(), may_be_dump)));
  const Result<analyzer::TraceModel> one = files.size() == 1 ? recorded(files.front()) : analyzer::TraceModel();
  if (!one) return one.error();
  const Result<SeenSession> seen = look_at_traces(files);
  if (!seen) return seen.error();
  nlohmann::ordered_json document = stuck_document(*seen, files);
  document["session"] = one->meta_value(store::MetaKey::session);
  document["app"] = one->meta_value(store::MetaKey::app);
  document["pid"] = one->app();
  return document;
}

Result<nlohmann::ordered_json> document_of(const StuckOptions& options) {
  if (!options.files.empty()) return of_files(options.files);
  const Result<Looked> looked = look(options.session);
  if (!looked) return looked.error();
  return stuck_document(looked->seen, looked->sessions);
}

int stuck(const StuckOptions& options) {
  const Result<nlohmann::ordered_json> document = document_of(options);
  if (!document) return fail(document.error());
  return print_answer(options.format == "json" ? reports::json_document(*document)
                                               : reports::stuck_text(*document, screen_of(STDOUT_FILENO)));
}

}  // namespace

template <>
VerbBody declare<struct StuckVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<StuckOptions>();
  CLI::Option* const files = verb.add_option(
      "FILE", options->files,
      "a trace of a program that hung, or the traces of a job's ranks, in any order: what waited then; or dumps of "
      "PyTorch's Flight Recorder, one for each rank; default: a running session");
  verb.add_option("--session", options->session, "the session to look at; default: the only one, or all of one MPI job")
      ->type_name("NAME")
      ->excludes(files);
  add_format(verb, options->format);
  add_example(verb, "wic-prof stuck rank.*.wicprof");
  return [options] { return stuck(*options); };
}

}  // namespace wicprof::cli
