#include "cli/sessions/own_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "cli/sessions/job.h"
#include "cli/sessions/place.h"
#include "cli/sessions/running_sessions.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/width.h"

namespace wicprof::cli {

namespace {

bool is_own(const SessionStatus& status) {
  if (!status.user) return false;  // an older wic-prof, which does not say where it was started
  return same_place({status.folder, status.terminal, *status.user}, place_of_this_process());
}

// Lists the sessions, and names the command that changes one.
Error refusal(const std::vector<SessionAnswer>& all, const std::vector<AnsweringSession>& own,
              const std::string& command) {
  constexpr std::size_t kIndent = 2;
  show(session_table(all, text_width(STDERR_FILENO), kIndent));
  std::string names;
  for (const AnsweringSession& session : own) names += (names.empty() ? "" : ", ") + session.session.name;
  const std::string what =
      own.empty() ? "no running session was started in this folder or this terminal, so nothing is changed unless you "
                    "name the session"
                  : fmt::format("{} sessions of this folder or this terminal are running: {}", own.size(), names);
  const SessionInfo& example = own.empty() ? all.front().session : own.front().session;
  return bad_input(fmt::format("{}; choose one with --session: {} --session {}", what, command, example.name));
}

Result<AnsweringSession> named_session(const std::string& name) {
  const Result<SessionInfo> session = choose_session(name);
  if (!session) return session.error();
  const Result<SessionStatus> status = ask_status(session->socket_path);
  if (!status) return in_session(*session, status.error());
  return AnsweringSession{*session, *status};
}

bool record_one_job(const std::vector<AnsweringSession>& sessions) {
  std::vector<SessionInfo> infos;
  for (const AnsweringSession& session : sessions) infos.push_back(session.session);
  return ranks_of_job(infos).has_value();
}

}  // namespace

Error in_session(const SessionInfo& session, const Error& error) {
  return {error.kind, fmt::format("session '{}': {}", session.name, error.message)};
}

Result<std::vector<AnsweringSession>> sessions_to_change(const std::string& name, const std::string& command,
                                                         bool jobs) {
  if (!name.empty()) {
    const Result<AnsweringSession> session = named_session(name);
    return session ? Result(std::vector{*session}) : session.error();
  }
  const Result<RunningSessions> running = running_sessions();
  if (!running) return running.error();
  if (running->sessions.empty()) return bad_input(kNoSession);
  const std::vector<SessionAnswer> all = ask_sessions(running->sessions);
  std::vector<AnsweringSession> own;
  const SessionAnswer* silent = nullptr;
  for (const SessionAnswer& answer : all) {
    if (!answer.status) {
      silent = &answer;
    } else if (is_own(*answer.status)) {
      own.push_back({answer.session, *answer.status});
    }
  }
  if (own.size() == 1 || (jobs && own.size() > 1 && record_one_job(own))) return own;
  if (own.empty() && silent != nullptr && all.size() == 1) return in_session(silent->session, silent->status.error());
  return refusal(all, own, command);
}

Result<AnsweringSession> session_to_change(const std::string& name, const std::string& command) {
  const Result<std::vector<AnsweringSession>> chosen = sessions_to_change(name, command, false);
  return chosen ? Result(chosen->front()) : chosen.error();
}

}  // namespace wicprof::cli
