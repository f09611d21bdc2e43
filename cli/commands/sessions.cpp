// wic-prof sessions: lists the recordings in progress.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/sessions/running_sessions.h"
#include "cli/terminal/messages.h"
#include "protocol/control_messages.h"

namespace wicprof::cli {

namespace {

using Json = nlohmann::ordered_json;

struct SessionAnswer {
  SessionInfo session;
  Result<SessionStatus> status;
};

Json to_json(const SessionAnswer& answer) {
  if (!answer.status)
    return {{"name", answer.session.name}, {"answers", false}, {"reason", answer.status.error().message}};
  const SessionStatus& s = *answer.status;
  return {{"name", s.name},
          {"answers", true},
          {"pid", s.app_pid},
          {"app", s.app},
          {"mode", mode_name(s.mode)},
          {"strategy", strategy_name(s.strategy)},
          {"events", s.events},
          {"waits", s.waits},
          {"drops", s.lost},
          {"sites", s.sites},
          {"wic_runtime", s.runtime_attached},
          {"trace", s.output},
          {"wic_prof_pid", s.tool_pid},
          {"recording_stopped", s.stopped.empty() ? Json(nullptr) : Json(s.stopped)}};
}

std::string to_text(const std::vector<SessionAnswer>& all) {
  if (all.empty()) return "no session is running; start a program with wic-prof run -- APP\n";
  std::size_t name_width = 4;
  std::size_t app_width = 3;
  for (const SessionAnswer& answer : all) {
    name_width = std::max(name_width, answer.session.name.size());
    if (answer.status) app_width = std::max(app_width, answer.status->app.size());
  }
  std::string text = fmt::format("{:<{}}  {:>8}  {:<{}}  {:<4}  {:>12}  {:>8}\n", "name", name_width, "pid", "app",
                                 app_width, "mode", "events", "drops");
  for (const SessionAnswer& answer : all) {
    if (!answer.status) {
      text +=
          fmt::format("{:<{}}  does not answer: {}\n", answer.session.name, name_width, answer.status.error().message);
      continue;
    }
    const SessionStatus& s = *answer.status;
    text += fmt::format("{:<{}}  {:>8}  {:<{}}  {:<4}  {:>12}  {:>8}\n", s.name, name_width, s.app_pid, s.app,
                        app_width, mode_name(s.mode), s.events, s.lost);
    if (!s.stopped.empty()) text += fmt::format("{:<{}}  recording stopped: {}\n", "", name_width, s.stopped);
  }
  return text;
}

}  // namespace

template <>
VerbBody declare<struct SessionsVerb>(CLI::App& verb, const ProgramWords&) {
  const auto format = std::make_shared<std::string>("text");
  add_format(verb, *format);
  add_example(verb, "wic-prof sessions --format=json");
  return [format]() -> int {
    const Result<RunningSessions> running = running_sessions();
    if (!running) return fail(running.error());
    for (const std::string& name : running->removed) {
      note(fmt::format(
          "removed session '{}' of a wic-prof that died; its trace keeps everything written before, see wic-prof "
          "analyze",
          name));
    }
    std::vector<SessionAnswer> all;
    for (const SessionInfo& session : running->sessions) all.push_back({session, ask_status(session.socket_path)});
    if (*format == "text") return print_answer(to_text(all));
    Json sessions = Json::array();
    for (const SessionAnswer& answer : all) sessions.push_back(to_json(answer));
    return print_answer(Json{{"sessions", sessions}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  };
}

}  // namespace wicprof::cli
