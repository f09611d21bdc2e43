#include "cli/sessions/running_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace wicprof::cli {

namespace {

std::vector<std::string> session_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".session") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<RunningSessions> running_sessions() {
  const Result<std::string> folder = session_directory();
  if (!folder) return folder.error();
  const std::vector<std::string> before = session_files(*folder);
  Result<std::vector<SessionInfo>> sessions = list_sessions();
  if (!sessions) return sessions.error();
  RunningSessions result{*std::move(sessions), {}};
  const std::vector<std::string> after = session_files(*folder);
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(result.removed));
  return result;
}

Result<SessionInfo> choose_session(const std::string& name) {
  const Result<RunningSessions> running = running_sessions();
  if (!running) return running.error();
  const std::vector<SessionInfo>& sessions = running->sessions;
  std::string names;
  for (const SessionInfo& s : sessions) names += (names.empty() ? "" : ", ") + s.name;
  if (sessions.empty()) {
    return bad_input(name.empty() ? std::string(kNoSession)
                                  : fmt::format("session '{}' is not running, and no other session is; start a program "
                                                "with wic-prof run -- APP",
                                                name));
  }
  if (name.empty()) {
    if (sessions.size() == 1) return sessions.front();
    return bad_input(fmt::format("{} sessions are running: {}; choose one with --session", sessions.size(), names));
  }
  for (const SessionInfo& s : sessions) {
    if (s.name == name) return s;
  }
  return bad_input(fmt::format("session '{}' is not running; the running sessions are {}", name, names));
}

}  // namespace wicprof::cli
