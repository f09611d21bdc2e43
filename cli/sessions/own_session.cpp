#include "cli/sessions/own_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

#include "cli/sessions/place.h"
#include "cli/sessions/running_sessions.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/width.h"

namespace wicprof::cli {

namespace {

Error about(const SessionInfo& session, const Error& error) {
  return {error.kind, fmt::format("session '{}': {}", session.name, error.message)};
}

bool is_own(const SessionStatus& status) {
  if (!status.user) return false;  // an older wic-prof, which does not say where it was started
  return same_place({status.folder, status.terminal, *status.user}, place_of_this_process());
}

// Lists the sessions, and names the command that changes one.
Error refusal(const std::vector<SessionAnswer>& all, const std::vector<const SessionAnswer*>& own,
              const std::string& command) {
  constexpr std::size_t kIndent = 2;
  show(session_table(all, text_width(STDERR_FILENO), kIndent));
  std::string names;
  for (const SessionAnswer* session : own) names += (names.empty() ? "" : ", ") + session->session.name;
  const std::string what =
      own.empty() ? "no running session was started in this folder or this terminal, so nothing is changed unless you "
                    "name the session"
                  : fmt::format("{} sessions of this folder or this terminal are running: {}", own.size(), names);
  const SessionAnswer& example = own.empty() ? all.front() : *own.front();
  return bad_input(fmt::format("{}; choose one with --session: {} --session {}", what, command, example.session.name));
}

}  // namespace

Result<AnsweringSession> session_to_change(const std::string& name, const std::string& command) {
  if (!name.empty()) {
    const Result<SessionInfo> session = choose_session(name);
    if (!session) return session.error();
    const Result<SessionStatus> status = ask_status(session->socket_path);
    if (!status) return about(*session, status.error());
    return AnsweringSession{*session, *status};
  }
  const Result<RunningSessions> running = running_sessions();
  if (!running) return running.error();
  if (running->sessions.empty()) return bad_input(kNoSession);
  const std::vector<SessionAnswer> all = ask_sessions(running->sessions);
  std::vector<const SessionAnswer*> own;
  const SessionAnswer* silent = nullptr;
  for (const SessionAnswer& answer : all) {
    if (!answer.status) {
      silent = &answer;
    } else if (is_own(*answer.status)) {
      own.push_back(&answer);
    }
  }
  if (own.size() == 1) return AnsweringSession{own.front()->session, *own.front()->status};
  if (own.empty() && silent != nullptr && all.size() == 1) return about(silent->session, silent->status.error());
  return refusal(all, own, command);
}

}  // namespace wicprof::cli
