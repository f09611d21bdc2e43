// wic-prof toggle: changes how a running program waits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/record/ab_options.h"
#include "cli/record/wait_options.h"
#include "cli/sessions/own_session.h"
#include "cli/sessions/place.h"
#include "cli/terminal/messages.h"
#include "protocol/control_messages.h"
#include "protocol/shell_words.h"
#include "reports/parts/json.h"

namespace wicprof::cli {

namespace {

struct ToggleOptions {
  std::string mode, strategy, session, site, side;
  AbOptions compared;  // of the mode ab, without what other options say
  bool off = false;    // of the mode auto
  std::string format = "text";
};

/// The command without --session, to be repeated with one.
std::string command_of(const ToggleOptions& options) {
  std::string command = "wic-prof toggle " + options.mode;
  if (!options.site.empty()) command += " --site " + shell_word(options.site);
  if (!options.side.empty()) command += " --side " + options.side;
  if (!options.strategy.empty()) command += " --strategy " + shell_word(options.strategy);
  return command;
}

/// "halo (pid 4242, recorded into halo.wicprof)"
std::string program_of(const SessionStatus& status) {
  const std::string trace = path_from(place_of_this_process().folder, status.output);
  return fmt::format("{} (pid {}, recorded into {})", analyzer::one_line(status.app), status.app_pid,
                     analyzer::one_line(trace));
}

/// "park now (strategy auto)", "poll now, the program's own way"
std::string way_text(Mode mode, StrategyId strategy) {
  return mode == Mode::poll ? "poll now, the program's own way"
                            : fmt::format("park now (strategy {})", strategy_name(strategy));
}

/// The commands that bring back what the change replaced; empty if that is unknown.
std::vector<std::string> undo_commands(const ToggleReply& reply, const std::string& session) {
  std::vector<std::string> commands;
  for (const WayOfWaiting& way : reply.before) {
    ToggleOptions options;
    options.mode = mode_name(way.mode);
    options.site = way.site;
    if (way.side != WaitSide::both) options.side = side_name(way.side);
    // Poll has no strategies to choose from.
    const bool by_default = way.strategy == default_strategy(Mode::park) ||
                            (way.side == WaitSide::host && way.strategy == StrategyId::hybrid);
    if (way.mode == Mode::park && !by_default) options.strategy = strategy_name(way.strategy);
    commands.push_back(command_of(options) + " --session " + session);
  }
  return commands;
}

/// Whether the program waited this way already.
bool changes_nothing(const ToggleReply& reply) {
  return reply.before.size() == 1 && reply.before.front().mode == reply.mode &&
         reply.before.front().strategy == reply.strategy;
}

std::string waits_of(WaitSide side) {
  if (side == WaitSide::both) return "all its waits";
  return side == WaitSide::host ? "its host threads' waits in calls of CUDA"
                                : "all its waits but those in calls of CUDA";
}

/// Begins a comparison of both modes in the running program.
int compare_modes(const ToggleOptions& options) {
  if (!options.site.empty()) return fail(bad_input("ab compares the whole program; leave --site out"));
  AbOptions compared = options.compared;
  compared.strategy = options.strategy;
  compared.side = options.side;
  const Result<AbPlan> plan = read_ab(compared);
  if (!plan) return fail(plan.error());
  const Result<AnsweringSession> chosen = session_to_change(options.session, command_of(options));
  if (!chosen) return fail(chosen.error());
  const auto& [session, status] = *chosen;
  const WaitSide side = plan->side.value_or(status.ab_side);
  const StrategyId strategy = plan->park.strategy;
  const Result<> begun = ask_ab(session.socket_path, {strategy, plan->time, plan->precision, side});
  if (!begun) {
    return fail({begun.error().kind, fmt::format("session '{}': {}", session.name, begun.error().message)});
  }
  if (options.format == "text") {
    return print_answer(
        fmt::format("{}: compares poll with park in turn for at most {}, for {}, then waits as before\n"
                    "the result, also while it runs: wic-prof compare {}\n",
                    program_of(status), compared.time, waits_of(side),
                    shell_word(path_from(place_of_this_process().folder, status.output))));
  }
  return print_answer(reports::json_document({{"session", session.name},
                                              {"mode", "ab"},
                                              {"side", side_name(side)},
                                              {"strategy", strategy_name(strategy)},
                                              {"time_ns", plan->time},
                                              {"precision", plan->precision},
                                              {"pid", status.app_pid},
                                              {"app", status.app},
                                              {"trace", status.output}}));
}

/// Begins or ends the autopilot of the running program.
int set_autopilot(const ToggleOptions& options) {
  if (!options.site.empty()) return fail(bad_input("auto decides for whole sides of the program; leave --site out"));
  const Result<WantedWait> park = park_wait(options.strategy);
  if (!park) return fail(park.error());
  const Result<WaitSide> side = wanted_side(options.side, park->strategy);
  if (!side) return fail(side.error());
  const Result<AnsweringSession> chosen =
      session_to_change(options.session, command_of(options) + (options.off ? " --off" : ""));
  if (!chosen) return fail(chosen.error());
  const auto& [session, status] = *chosen;
  const Result<> done = ask_auto(session.socket_path, {park->strategy, *side, options.off});
  if (!done) return fail({done.error().kind, fmt::format("session '{}': {}", session.name, done.error().message)});
  if (options.format == "text") {
    return print_answer(program_of(status) +
                        (options.off ? ": the autopilot is off; the program waits as before it\n"
                                     : fmt::format(": the autopilot is on, for {}\nwhat it does and decides: wic-prof "
                                                   "sessions; to end it: wic-prof toggle auto --off\n",
                                                   waits_of(*side))));
  }
  return print_answer(reports::json_document({{"session", session.name},
                                              {"mode", "auto"},
                                              {"on", !options.off},
                                              {"side", side_name(*side)},
                                              {"strategy", strategy_name(park->strategy)},
                                              {"pid", status.app_pid},
                                              {"app", status.app},
                                              {"trace", status.output}}));
}

std::string reply_text(const ToggleReply& reply, const AnsweringSession& changed) {
  const SessionStatus& status = changed.status;
  const TimeNs took = reply.effective - reply.requested;
  std::string text = fmt::format(
      "{}: {} {}\n", program_of(status),
      reply.site.empty() ? waits_of(reply.side) : fmt::format("its waits at '{}'", analyzer::one_line(reply.site)),
      way_text(reply.mode, reply.strategy));
  text += fmt::format("in effect {:.3f} ms after the request", static_cast<double>(took) / kMillisecond);
  if (status.started != 0) {
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
  const std::vector<std::string> undo = undo_commands(reply, changed.session.name);
  if (!undo.empty()) text += fmt::format("undo: {}\n", fmt::join(undo, " && "));
  return text;
}

std::string reply_json(const ToggleReply& reply, const AnsweringSession& changed) {
  nlohmann::ordered_json before = nlohmann::ordered_json::array();
  for (const WayOfWaiting& way : reply.before) {
    before.push_back({{"site", way.site.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(way.site)},
                      {"mode", mode_name(way.mode)},
                      {"strategy", strategy_name(way.strategy)}});
    if (way.side != WaitSide::both) before.back()["side"] = side_name(way.side);
  }
  const nlohmann::ordered_json json = {
      {"session", changed.session.name},
      {"site", reply.site.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(reply.site)},
      {"side", side_name(reply.side)},
      {"mode", mode_name(reply.mode)},
      {"strategy", strategy_name(reply.strategy)},
      {"requested_ns", reply.requested},
      {"effective_ns", reply.effective},
      {"took_ns", reply.effective - reply.requested},
      {"processes", reply.processes},
      {"span_ns", reply.span},
      {"unreached", reply.unreached},
      {"pid", changed.status.app_pid},
      {"app", changed.status.app},
      {"trace", changed.status.output},
      {"before", before},
      {"undo", changes_nothing(reply) ? std::vector<std::string>() : undo_commands(reply, changed.session.name)}};
  return reports::json_document(json);
}

int toggle(const ToggleOptions& options) {
  if (options.off && options.mode != "auto") return fail(bad_input("--off ends the autopilot: toggle auto --off"));
  if (options.mode == "ab") return compare_modes(options);
  if (options.mode == "auto") return set_autopilot(options);
  const Result<WantedWait> wanted = wanted_wait(options.mode, options.strategy);
  if (!wanted) return fail(wanted.error());
  const Result<WaitSide> side = wanted_side(options.side, wanted->strategy);
  if (!side) return fail(side.error());
  if (!options.side.empty() && !options.site.empty()) {
    return fail(bad_input("a site belongs to one side; leave --side out"));
  }
  const Result<AnsweringSession> chosen = session_to_change(options.session, command_of(options));
  if (!chosen) return fail(chosen.error());
  const SessionInfo& session = chosen->session;
  const Result<ToggleReply> reply =
      ask_toggle(session.socket_path, {wanted->mode, wanted->strategy, options.site, *side});
  if (!reply) {
    return fail({reply.error().kind, fmt::format("session '{}': {}", session.name, reply.error().message)});
  }
  return print_answer(options.format == "text" ? reply_text(*reply, *chosen) : reply_json(*reply, *chosen));
}

}  // namespace

template <>
VerbBody declare<struct ToggleVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ToggleOptions>();
  verb.add_option("MODE", options->mode,
                  "poll (the program's own way), park, ab: compare both as wic-prof run --ab does, or auto: park where "
                  "that pays, as wic-prof run --auto does; each of the others ends auto")
      ->required()
      ->check(CLI::IsMember({"poll", "park", "ab", "auto"}));
  verb.add_flag("--off", options->off, "with auto: end it, and wait as before it");
  verb.add_option("--session", options->session,
                  "the session to change; default: the only one that was started in this folder or this terminal")
      ->type_name("NAME");
  verb.add_option("--site", options->site, "only this wait site; default: the whole program")->type_name("SITE");
  verb.add_option("--side", options->side,
                  "which waits: host (host threads in calls of CUDA), device (all others), or both; default: both, and "
                  "with ab device if the program has wait sites of its own, else host")
      ->type_name("SIDE")
      ->check(CLI::IsMember({"host", "device", "both"}));
  verb.add_option("--strategy", options->strategy, "how park waits: " + strategy_list() + "; default: auto")
      ->type_name("NAME");
  verb.add_option("--for", options->compared.time, "with ab: compare at most this long (ms, s, m)")
      ->type_name("TIME")
      ->capture_default_str();
  verb.add_option("--precision", options->compared.precision,
                  "with ab: stop once the interval reaches at most this far to either side; 0%: use all of the time")
      ->type_name("SHARE%")
      ->capture_default_str();
  add_format(verb, options->format);
  add_example(verb, "wic-prof toggle park --session halo --strategy=backoff");
  return [options] { return toggle(*options); };
}

}  // namespace wicprof::cli
