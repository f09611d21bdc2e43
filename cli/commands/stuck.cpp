// wic-prof stuck: what a program that hangs waits for, and the likeliest missing signal.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

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

std::string answer_json(const SeenSession& seen, const analyzer::StuckAnswer& answer, const SessionStatus& status) {
  nlohmann::ordered_json json{
      {"session", status.name}, {"app", status.app}, {"pid", status.app_pid}, {"trace", status.output}};
  json.update(reports::stuck_json(seen.view, answer));
  json["not_seen"] = seen.not_seen;
  return reports::json_document(json);
}

int stuck(const StuckOptions& options) {
  const Result<SessionInfo> session = choose_session(options.session);
  if (!session) return fail(session.error());
  const Result<SessionStatus> status = ask_status(session->socket_path);
  if (!status) {
    return fail({status.error().kind, fmt::format("session '{}': {}", session->name, status.error().message)});
  }
  const Result<SeenSession> seen = look_at_session(*session, *status);
  if (!seen) return fail(seen.error());
  const analyzer::StuckAnswer answer = analyzer::diagnose(seen->view);
  if (options.format == "json") return print_answer(answer_json(*seen, answer, *status));
  std::string text = reports::stuck_text(seen->view, answer, screen_of(STDOUT_FILENO));
  for (const std::string& reason : seen->not_seen) text += "\ncould not look: " + analyzer::one_line(reason) + "\n";
  return print_answer(text);
}

}  // namespace

template <>
VerbBody declare<struct StuckVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<StuckOptions>();
  verb.add_option("--session", options->session, "the session to look at; default: the only one")->type_name("NAME");
  add_format(verb, options->format);
  add_example(verb, "wic-prof stuck --session halo");
  return [options] { return stuck(*options); };
}

}  // namespace wicprof::cli
