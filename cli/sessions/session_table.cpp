#include "cli/sessions/session_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "analyzer/words/format.h"
#include "cli/sessions/place.h"
#include "reports/parts/table.h"
#include "reports/text/table_text.h"

namespace wicprof::cli {

namespace {

constexpr std::size_t kAnyWidth = static_cast<std::size_t>(-1);

/// `with_traces`: the last column has the traces.
std::string table_text(const std::vector<SessionAnswer>& all, std::size_t indent, bool with_traces) {
  const std::string folder = place_of_this_process().folder;
  const auto now = static_cast<long long>(std::time(nullptr));
  /// What a session that answers says.
  const auto said = [](auto get) {
    return [get](const SessionAnswer& answer) -> reports::Cell { return answer.status ? get(*answer.status) : "-"; };
  };
  using Status = SessionStatus;
  std::vector<reports::Field<SessionAnswer>> fields{
      {"name", 'l', [](const SessionAnswer& answer) { return answer.session.name; }},
      {"pid", 'r', said([](const Status& s) { return std::to_string(s.app_pid); })},
      {"app", 'l', said([](const Status& s) { return s.app; })},
      {"mode", 'l', said([](const Status& s) { return std::string(mode_name(s.mode)); })},
      {"started", 'r', said([=](const Status& s) { return local_time(s.started_utc, now); })},
      {"events", 'r', said([](const Status& s) { return std::to_string(s.events); })},
      {"drops", 'r', said([](const Status& s) { return std::to_string(s.lost); })},
      {"trace", 'l', said([&](const Status& s) { return path_from(folder, s.output); })}};
  if (!with_traces) fields.pop_back();
  const std::string table =
      reports::table_text(reports::table_of("session", all, all.size(), fields), {.width = kAnyWidth}, indent);
  std::istringstream lines(table);
  std::string text, line;
  std::getline(lines, line);
  text += line + "\n";
  const std::string below(indent + 2, ' ');
  for (const SessionAnswer& answer : all) {
    std::getline(lines, line);
    text += line + "\n";
    if (!answer.status) {
      text += below + "does not answer: " + analyzer::one_line(answer.status.error().message) + "\n";
      continue;
    }
    if (!with_traces) text += below + "trace " + analyzer::one_line(path_from(folder, answer.status->output)) + "\n";
    if (const std::uint32_t count = answer.status->unrecorded; count > 0) {
      text += below + analyzer::count_of(count, "part") +
              " of the program not recorded, since no ring was free: raise run's --buffer-size, or record in more "
              "sessions\n";
    }
    if (const std::uint32_t count = answer.status->unreached; count > 0) {
      text += below + "toggles may not reach " + analyzer::count_of(count, "part") +
              " of the program: the session has no room for more\n";
    }
    if (!answer.status->autopilot.empty()) {
      text += below + "autopilot " + analyzer::one_line(answer.status->autopilot) + "\n";
    }
    if (!answer.status->stopped.empty()) {
      text += below + "recording stopped: " + analyzer::one_line(answer.status->stopped) + "\n";
    }
  }
  return text;
}

}  // namespace

std::vector<SessionAnswer> ask_sessions(const std::vector<SessionInfo>& sessions) {
  std::vector<SessionAnswer> all;
  for (const SessionInfo& session : sessions) all.push_back({session, ask_status(session.socket_path)});
  return all;
}

std::string path_from(const std::string& folder, const std::string& file) {
  if (folder.empty() || !file.starts_with('/')) return file;
  const std::filesystem::path path = std::filesystem::path(file).lexically_relative(folder);
  return path.empty() || *path.begin() == ".." ? file : path.string();
}

std::string local_time(const std::string& utc, long long today) {
  std::tm parts{};
  const char* const end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return "-";
  const std::time_t at = timegm(&parts);
  const auto now = static_cast<std::time_t>(today);
  std::tm local{}, local_now{};
  localtime_r(&at, &local);
  localtime_r(&now, &local_now);
  const bool same_day = local.tm_year == local_now.tm_year && local.tm_yday == local_now.tm_yday;
  char text[32];
  std::strftime(text, sizeof text, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &local);
  return text;
}

std::string session_table(const std::vector<SessionAnswer>& all, std::size_t width, std::size_t indent) {
  const std::string whole = table_text(all, indent, true);
  std::istringstream lines(whole);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_sentence = line.find("does not answer: ") != std::string::npos ||
                             line.starts_with(std::string(indent + 2, ' ') + "autopilot ");
    if (!is_sentence) longest = std::max(longest, line.size());
  }
  return longest <= width ? whole : table_text(all, indent, false);
}

}  // namespace wicprof::cli
