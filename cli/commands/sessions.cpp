// wic-prof sessions: lists the recordings in progress.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/sessions/running_sessions.h"
#include "cli/sessions/session_table.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/width.h"
#include "reports/parts/json.h"

namespace wicprof::cli {

namespace {

using Json = nlohmann::ordered_json;

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
          {"host_mode", mode_name(s.host_mode)},
          {"host_strategy", strategy_name(s.host_strategy)},
          {"events", s.events},
          {"waits", s.waits},
          {"drops", s.lost},
          {"sites", s.sites},
          {"wic_runtime", s.runtime_attached},
          {"autopilot", s.autopilot.empty() ? Json(nullptr) : Json(s.autopilot)},
          {"autopilot_on", s.autopilot_running},
          {"unrecorded", s.unrecorded},
          {"unreached", s.unreached},
          {"trace", s.output},
          {"started_utc", s.started_utc.empty() ? Json(nullptr) : Json(s.started_utc)},
          {"folder", s.folder.empty() ? Json(nullptr) : Json(s.folder)},
          {"terminal", s.terminal.empty() ? Json(nullptr) : Json(s.terminal)},
          {"user", s.user ? Json(*s.user) : Json(nullptr)},
          {"wic_prof_pid", s.tool_pid},
          {"recording_stopped", s.stopped.empty() ? Json(nullptr) : Json(s.stopped)}};
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
    const std::vector<SessionAnswer> all = ask_sessions(running->sessions);
    if (*format == "text") {
      if (all.empty()) return print_answer(std::string(kNoSession) + "\n");
      return print_answer(session_table(all, text_width(STDOUT_FILENO), 0));
    }
    Json sessions = Json::array();
    for (const SessionAnswer& answer : all) sessions.push_back(to_json(answer));
    return print_answer(reports::json_document(Json{{"sessions", sessions}}));
  };
}

}  // namespace wicprof::cli
