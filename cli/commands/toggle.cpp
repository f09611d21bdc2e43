// wic-prof toggle: changes how a running program waits.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/record/wait_options.h"
#include "cli/sessions/running_sessions.h"
#include "cli/terminal/messages.h"
#include "protocol/control_messages.h"

namespace wicprof::cli {

namespace {

struct ToggleOptions {
  std::string mode, strategy, session, site;
  std::string time = "1m";
  std::string precision = "1%";
  std::string format = "text";
};

/// Begins a comparison of both modes in the running program.
int compare_modes(const ToggleOptions& options) {
  const Result<WantedWait> park = park_wait(options.strategy);
  if (!park) return fail(park.error());
  if (!options.site.empty()) return fail(bad_input("ab compares the whole program; leave --site out"));
  const Result<AbTimes> times = read_ab_times(options.time, options.precision);
  if (!times) return fail(times.error());
  const Result<SessionInfo> session = choose_session(options.session);
  if (!session) return fail(session.error());
  const Result<> begun = ask_ab(session->socket_path, {park->strategy, times->time, times->precision});
  if (!begun) {
    return fail({begun.error().kind, fmt::format("session '{}': {}", session->name, begun.error().message)});
  }
  if (options.format == "text") {
    return print_answer(fmt::format(
        "session '{}': compares poll with park for at most {}; wic-prof compare on its trace shows the result\n",
        session->name, options.time));
  }
  return print_answer(nlohmann::ordered_json{{"session", session->name},
                                             {"mode", "ab"},
                                             {"strategy", strategy_name(park->strategy)},
                                             {"time_ns", times->time},
                                             {"precision", times->precision}}
                          .dump(2) +
                      "\n");
}

int toggle(const ToggleOptions& options) {
  if (options.mode == "ab") return compare_modes(options);
  const Result<WantedWait> wanted = wanted_wait(options.mode, options.strategy);
  if (!wanted) return fail(wanted.error());
  const Result<SessionInfo> session = choose_session(options.session);
  if (!session) return fail(session.error());
  const Result<ToggleReply> reply = ask_toggle(session->socket_path, {wanted->mode, wanted->strategy, options.site});
  if (!reply) {
    return fail({reply.error().kind, fmt::format("session '{}': {}", session->name, reply.error().message)});
  }
  const TimeNs took = reply->effective - reply->requested;
  if (options.format == "text") {
    return print_answer(fmt::format(
        "session '{}': {} now waits by {} ({}); in effect {:.3f} ms after the request, at {:.6f} s on the trace's "
        "clock\n",
        session->name, reply->site.empty() ? "the whole program" : fmt::format("site '{}'", reply->site),
        mode_name(reply->mode), strategy_name(reply->strategy), static_cast<double>(took) / kMillisecond,
        static_cast<double>(reply->effective) / kSecond));
  }
  const nlohmann::ordered_json json = {
      {"session", session->name},
      {"site", reply->site.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(reply->site)},
      {"mode", mode_name(reply->mode)},
      {"strategy", strategy_name(reply->strategy)},
      {"requested_ns", reply->requested},
      {"effective_ns", reply->effective},
      {"took_ns", took}};
  return print_answer(json.dump(2) + "\n");
}

}  // namespace

template <>
VerbBody declare<struct ToggleVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ToggleOptions>();
  verb.add_option("MODE", options->mode,
                  "poll (the program's own way), park, or ab: compare both as wic-prof run --ab does")
      ->required()
      ->check(CLI::IsMember({"poll", "park", "ab"}));
  verb.add_option("--session", options->session, "the session; required if several are running")->type_name("NAME");
  verb.add_option("--site", options->site, "only this wait site; default: the whole program")->type_name("SITE");
  verb.add_option("--strategy", options->strategy, "how park waits: " + strategy_list() + "; default: auto")
      ->type_name("NAME");
  verb.add_option("--for", options->time, "with ab: compare at most this long (ms, s, m)")
      ->type_name("TIME")
      ->capture_default_str();
  verb.add_option("--precision", options->precision,
                  "with ab: stop once the interval reaches at most this far to either side; 0%: use all of the time")
      ->type_name("SHARE%")
      ->capture_default_str();
  add_format(verb, options->format);
  add_example(verb, "wic-prof toggle park --session halo --strategy=backoff");
  return [options] { return toggle(*options); };
}

}  // namespace wicprof::cli
