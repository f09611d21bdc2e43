#include "cli/sessions/toggle_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/stuck/mpi_words.h"
#include "analyzer/words/format.h"
#include "cli/sessions/place.h"
#include "protocol/shell_words.h"

namespace wicprof::cli {

namespace {

/// "park now (strategy auto)", "poll now, the program's own way"
std::string way_text(Mode mode, StrategyId strategy) {
  return mode == Mode::poll ? "poll now, the program's own way"
                            : fmt::format("park now (strategy {})", strategy_name(strategy));
}

/// Whether the program waited this way already.
bool changes_nothing(const ToggleReply& reply) {
  return reply.before.size() == 1 && reply.before.front().mode == reply.mode &&
         reply.before.front().strategy == reply.strategy;
}

/// The commands, without a session, that bring back what the change replaced; empty if there is nothing, or unknown.
std::vector<std::string> undo_commands(const ToggleReply& reply) {
  std::vector<std::string> commands;
  if (changes_nothing(reply)) return commands;
  for (const WayOfWaiting& way : reply.before) {
    // Poll has no strategies to choose from.
    const bool by_default = way.strategy == default_strategy(Mode::park) ||
                            (way.side == WaitSide::host && way.strategy == StrategyId::hybrid);
    commands.push_back(toggle_command(
        mode_name(way.mode), way.site, way.side == WaitSide::both ? std::string_view() : side_name(way.side),
        way.mode == Mode::park && !by_default ? strategy_name(way.strategy) : std::string_view()));
  }
  return commands;
}

/// The same for all sessions. Without a session's name, toggle changes a whole job.
std::vector<std::string> undo_commands(const std::vector<Toggled>& toggled) {
  const std::vector<std::string> first = undo_commands(toggled.front().reply);
  const bool same = std::all_of(toggled.begin(), toggled.end(),
                                [&](const Toggled& one) { return undo_commands(one.reply) == first; });
  if (toggled.size() > 1 && same) return first;
  std::vector<std::string> commands;
  for (const auto& [session, reply] : toggled) {
    for (const std::string& command : undo_commands(reply)) {
      commands.push_back(command + " --session " + session.session.name);
    }
  }
  return commands;
}

/// The replies of a job's sessions as one. They share the host's clock.
ToggleReply joined(const std::vector<Toggled>& toggled) {
  ToggleReply all = toggled.front().reply;
  TimeNs first = all.effective - all.span;
  for (auto one = toggled.begin() + 1; one != toggled.end(); ++one) {
    const ToggleReply& reply = one->reply;
    all.requested = std::min(all.requested, reply.requested);
    all.effective = std::max(all.effective, reply.effective);
    first = std::min(first, reply.effective - reply.span);
    all.processes += reply.processes;
    all.unreached += reply.unreached;
    if (!changes_nothing(reply)) all.before = reply.before;
  }
  all.span = all.effective - first;
  return all;
}

/// "app (4 sessions of one job, its ranks 0 to 3 of 8)"
std::string job_of(const std::vector<Toggled>& toggled, const std::optional<JobRanks>& ranks) {
  std::string of_job;
  if (ranks) {
    of_job = fmt::format(", its {} of {}", analyzer::ranks_text({ranks->recorded.begin(), ranks->recorded.end()}),
                         ranks->size);
  }
  return fmt::format("{} ({} sessions of one job{})", analyzer::one_line(toggled.front().session.status.app),
                     toggled.size(), of_job);
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json reply_json(const ToggleReply& reply) {
  return {{"site", or_null(reply.site)},
          {"side", side_name(reply.side)},
          {"mode", mode_name(reply.mode)},
          {"strategy", strategy_name(reply.strategy)},
          {"requested_ns", reply.requested},
          {"effective_ns", reply.effective},
          {"took_ns", reply.effective - reply.requested},
          {"processes", reply.processes},
          {"span_ns", reply.span},
          {"unreached", reply.unreached}};
}

nlohmann::ordered_json session_json(const Toggled& toggled) {
  const auto& [session, reply] = toggled;
  nlohmann::ordered_json before = nlohmann::ordered_json::array();
  for (const WayOfWaiting& way : reply.before) {
    before.push_back(
        {{"site", or_null(way.site)}, {"mode", mode_name(way.mode)}, {"strategy", strategy_name(way.strategy)}});
    if (way.side != WaitSide::both) before.back()["side"] = side_name(way.side);
  }
  nlohmann::ordered_json json = {{"session", session.session.name}};
  json.update(reply_json(reply));
  json.update({{"pid", session.status.app_pid},
               {"app", session.status.app},
               {"trace", session.status.output},
               {"before", before},
               {"undo", undo_commands({toggled})}});
  return json;
}

}  // namespace

std::string toggle_command(std::string_view mode, std::string_view site, std::string_view side,
                           std::string_view strategy) {
  std::string command = fmt::format("wic-prof toggle {}", mode);
  if (!site.empty()) command += " --site " + shell_word(site);
  if (!side.empty()) command += fmt::format(" --side {}", side);
  if (!strategy.empty()) command += " --strategy " + shell_word(strategy);
  return command;
}

std::string program_of(const SessionStatus& status) {
  const std::string trace = path_from(place_of_this_process().folder, status.output);
  return fmt::format("{} (pid {}, recorded into {})", analyzer::one_line(status.app), status.app_pid,
                     analyzer::one_line(trace));
}

std::string waits_of(WaitSide side) {
  if (side == WaitSide::both) return "all its waits";
  return side == WaitSide::host ? "its host threads' waits in calls of CUDA"
                                : "all its waits but those in calls of CUDA";
}

std::string toggle_text(const std::vector<Toggled>& toggled, const std::optional<JobRanks>& ranks) {
  const SessionStatus& status = toggled.front().session.status;
  const bool is_job = toggled.size() > 1;
  const ToggleReply reply = joined(toggled);
  std::string text = fmt::format(
      "{}: {} {}\n", is_job ? job_of(toggled, ranks) : program_of(status),
      reply.site.empty() ? waits_of(reply.side) : fmt::format("its waits at '{}'", analyzer::one_line(reply.site)),
      way_text(reply.mode, reply.strategy));
  text += fmt::format("in effect {:.3f} ms after the request",
                      static_cast<double>(reply.effective - reply.requested) / kMillisecond);
  if (status.started != 0 && !is_job) {
    text += fmt::format(", {:.3f} s after the start of the recording",
                        static_cast<double>(reply.effective - status.started) / kSecond);
  }
  if (reply.processes > 1) {
    text += fmt::format(", in {} processes within {:.3f} ms", reply.processes,
                        static_cast<double>(reply.span) / kMillisecond);
  }
  if (reply.unreached > 0) {
    text += fmt::format(", but not known to be in {} for which the session had no room: see wic-prof sessions",
                        analyzer::count_of(reply.unreached, "part") + " of the program");
  }
  text += "\n";
  if (changes_nothing(reply)) return text + "they waited this way before, so there is nothing to undo\n";
  const std::vector<std::string> undo = undo_commands(toggled);
  if (!undo.empty()) text += fmt::format("undo: {}\n", fmt::join(undo, " && "));
  return text;
}

nlohmann::ordered_json toggle_json(const std::vector<Toggled>& toggled, const std::optional<JobRanks>& ranks) {
  if (toggled.size() == 1) return session_json(toggled.front());
  nlohmann::ordered_json json = reply_json(joined(toggled));
  if (ranks) json["ranks"] = ranks->recorded;
  json["ranks_of_job"] = ranks ? nlohmann::ordered_json(ranks->size) : nlohmann::ordered_json(nullptr);
  for (const Toggled& one : toggled) json["sessions"].push_back(session_json(one));
  json["undo"] = undo_commands(toggled);
  return json;
}

}  // namespace wicprof::cli
