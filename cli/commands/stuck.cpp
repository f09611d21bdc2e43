// wic-prof stuck: what a program that hangs waits for, and the likeliest missing signal.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/sessions/own_session.h"
#include "cli/sessions/running_sessions.h"
#include "cli/sessions/stuck_view.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/write_text.h"
#include "reports/json/stuck_json.h"
#include "reports/parts/json.h"
#include "reports/text/stuck_text.h"

namespace wicprof::cli {

namespace {

struct StuckOptions {
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
  if (!seen) return Error{seen.error().kind, fmt::format("session '{}': {}", session.name, seen.error().message)};
  statuses.push_back(*std::move(status));
  return seen;
}

Result<Looked> look(const std::string& name) {
  const Result<RunningSessions> running = running_sessions();
  const bool is_job = name.empty() && running && running->sessions.size() > 1 && are_one_job(running->sessions);
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

std::string answer_json(const Looked& looked, const analyzer::StuckAnswer& answer) {
  const SessionStatus& first = looked.sessions.front();
  nlohmann::ordered_json json{
      {"session", first.name}, {"app", first.app}, {"pid", first.app_pid}, {"trace", first.output}};
  nlohmann::ordered_json others = nlohmann::ordered_json::array();
  for (const SessionStatus& status : looked.sessions) {
    if (&status != &first) others.push_back(status.name);
  }
  json["other_sessions"] = others;
  json.update(reports::stuck_json(looked.seen.view, answer));
  json["not_seen"] = looked.seen.not_seen;
  return reports::json_document(json);
}

int stuck(const StuckOptions& options) {
  const Result<Looked> looked = look(options.session);
  if (!looked) return fail(looked.error());
  const SeenSession& seen = looked->seen;
  const analyzer::StuckAnswer answer = analyzer::diagnose(seen.view);
  if (options.format == "json") return print_answer(answer_json(*looked, answer));
  std::string text = reports::stuck_text(seen.view, answer, screen_of(STDOUT_FILENO));
  for (const std::string& reason : seen.not_seen) text += "\ncould not look: " + analyzer::one_line(reason) + "\n";
  return print_answer(text);
}

}  // namespace

template <>
VerbBody declare<struct StuckVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<StuckOptions>();
  verb.add_option("--session", options->session, "the session to look at; default: the only one, or all of one MPI job")
      ->type_name("NAME");
  add_format(verb, options->format);
  add_example(verb, "wic-prof stuck --session halo");
  return [options] { return stuck(*options); };
}

}  // namespace wicprof::cli
