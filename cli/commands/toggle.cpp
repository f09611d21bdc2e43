// wic-prof toggle: changes how a running program waits.
#include <fmt/format.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/record/ab_options.h"
#include "cli/record/wait_options.h"
#include "cli/sessions/job.h"
#include "cli/sessions/own_session.h"
#include "cli/sessions/place.h"
#include "cli/sessions/toggle_answer.h"
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

std::string command_of(const ToggleOptions& options) {
  return toggle_command(options.mode, options.site, options.side, options.strategy);
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
  if (!begun) return fail(in_session(session, begun.error()));
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
  if (!done) return fail(in_session(session, done.error()));
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

/// Asks all sessions at the same time. Says what has changed also where one did not answer.
int change(const std::vector<AnsweringSession>& sessions, const ToggleRequest& request, const std::string& format) {
  std::vector<std::future<Result<ToggleReply>>> replies;
  for (const AnsweringSession& one : sessions) {
    replies.push_back(std::async(std::launch::async, ask_toggle, one.session.socket_path, request));
  }
  std::vector<Toggled> toggled;
  std::vector<SessionInfo> changed;
  int status = 0;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Result<ToggleReply> reply = replies[i].get();
    if (reply) {
      toggled.push_back({sessions[i], *reply});
      changed.push_back(sessions[i].session);
    } else {
      status = fail(in_session(sessions[i].session, reply.error()));
    }
  }
  if (toggled.empty()) return status;
  const std::optional<JobRanks> ranks = sessions.size() > 1 ? ranks_of_job(changed) : std::nullopt;
  const int printed = print_answer(format == "text" ? toggle_text(toggled, ranks)
                                                    : reports::json_document(toggle_json(toggled, ranks)));
  return status != 0 ? status : printed;
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
  const Result<std::vector<AnsweringSession>> chosen = sessions_to_change(options.session, command_of(options), true);
  if (!chosen) return fail(chosen.error());
  return change(*chosen, {wanted->mode, wanted->strategy, options.site, *side}, options.format);
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
                  "the session to change; default: the only one that was started in this folder or this terminal, or, "
                  "with poll and park, those of all ranks of one job")
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
